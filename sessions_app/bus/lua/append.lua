-- Appends events of one turn, all or none of it.
--
-- KEYS: stream, meta, head
-- ARGV: ordinal, fence, forced, log_bytes, ttl_ms, swept_n, idle kind,
--       then n, kind, terminal, body for each event
-- Answers {'ok'}, {'stale'}, {'gone'}, or {'gap', n}: the log ends at that n, and the
-- events between it and the first one given are to be sent again.
local stream, meta, head = KEYS[1], KEYS[2], KEYS[3]
local ordinal, fence = tonumber(ARGV[1]), tonumber(ARGV[2])
local kept = redis.call('HMGET', meta, 'turn', 'fence', 'n', 'ended', 'trimmed', 'bytes', 'gone')
if kept[7] then return {'gone'} end
local turn, held = tonumber(kept[1] or '0'), tonumber(kept[2] or '0')
local last, ended = tonumber(kept[3] or '0'), kept[4] == '1'
local trimmed, bytes = tonumber(kept[5] or '0'), tonumber(kept[6] or '0')
if ordinal < turn or (ordinal == turn and fence < held) then return {'stale'} end

local is_new = ordinal > turn
if is_new then last = 0 end
local first = tonumber(ARGV[8])
if first > last + 1 and first < tonumber(ARGV[6]) and ARGV[3] ~= '1' then
    return {'gap', last}
end
-- A full Redis refuses a script at its first write alone, and only if that adds.
redis.call('APPEND', head, '')
if is_new then
    -- Whole turns without a hole between them: what does not connect is told from the
    -- database.
    if not ended or ordinal ~= turn + 1 then
        redis.call('DEL', stream, meta)
        trimmed, bytes = ordinal - 1, 0
    end
    ended = false
end

local size = 0
for i = 8, #ARGV, 4 do
    local n = tonumber(ARGV[i])
    if n > last then
        redis.call('XADD', stream, ARGV[1] .. '-' .. ARGV[i],
            'k', ARGV[i + 1], 't', ARGV[i + 2], 'b', ARGV[i + 3])
        size = size + 2 * #ARGV[i + 3] + 300
        last = n
        ended = ARGV[i + 1] == ARGV[7]
    end
end
bytes = bytes + size
redis.call('HINCRBY', meta, 'b' .. ordinal, size)

if ended then
    local before = trimmed
    while bytes > tonumber(ARGV[4]) and trimmed + 1 < ordinal do
        trimmed = trimmed + 1
        bytes = bytes - tonumber(redis.call('HGET', meta, 'b' .. trimmed) or '0')
        redis.call('HDEL', meta, 'b' .. trimmed)
    end
    if trimmed > before then
        redis.call('XTRIM', stream, 'MINID', (trimmed + 1) .. '-0')
    end
end
local flag = ended and '1' or '0'
redis.call('HSET', meta, 'turn', ordinal, 'fence', fence, 'n', last, 'ended', flag,
    'trimmed', trimmed, 'bytes', bytes)
redis.call('SET', head, ordinal .. '-' .. last .. '-' .. flag, 'KEEPTTL')
if ended or is_new then
    -- A turn that waits for a client's tool may take hours.
    local ttl = ended and tonumber(ARGV[5]) or 86400000
    for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ttl) end
end
return {'ok'}
