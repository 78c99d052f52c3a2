-- Appends events of one turn of each of some sessions: all of a turn's or none.
--
-- KEYS: stream, meta, head for each session
-- ARGV: swept_n, idle kind, log_bytes, ttl_ms, and in MessagePack a list for each session:
--       ordinal, fence, forced, then n, kind, terminal, body for each event
-- Answers for each session {'ok'}, {'stale'}, {'gone'}, {'error', text}, or {'gap', n}: the
-- log ends at that n, and the events between it and the first one given are to be sent again.
local swept_n, idle = tonumber(ARGV[1]), ARGV[2]
local log_bytes, ttl_ms = tonumber(ARGV[3]), tonumber(ARGV[4])

local function append(stream, meta, head, given)
    local ordinal, fence = given[1], given[2]
    local kept = redis.call('HMGET', meta, 'turn', 'fence', 'n', 'ended', 'trimmed', 'bytes', 'gone')
    if kept[7] then return {'gone'} end
    local turn, held = tonumber(kept[1] or '0'), tonumber(kept[2] or '0')
    local last, ended = tonumber(kept[3] or '0'), kept[4] == '1'
    local trimmed, bytes = tonumber(kept[5] or '0'), tonumber(kept[6] or '0')
    if ordinal < turn or (ordinal == turn and fence < held) then return {'stale'} end

    local is_new = ordinal > turn
    if is_new then last = 0 end
    local first = given[4]
    if first > last + 1 and first < swept_n and not given[3] then
        return {'gap', last}
    end
    -- A full Redis refuses a script at its first write alone, and only if that adds.
    redis.call('APPEND', head, '')
    if is_new then
        -- Whole turns without a hole between them: what does not connect is told from
        -- the database.
        if not ended or ordinal ~= turn + 1 then
            redis.call('DEL', stream, meta)
            trimmed, bytes = ordinal - 1, 0
        end
        ended = false
    end

    local size = 0
    for i = 4, #given, 4 do
        local n = given[i]
        if n > last then
            redis.call('XADD', stream, ordinal .. '-' .. n,
                'k', given[i + 1], 't', given[i + 2], 'b', given[i + 3])
            size = size + 2 * #given[i + 3] + 300
            last = n
            ended = given[i + 1] == idle
        end
    end
    bytes = bytes + size
    redis.call('HINCRBY', meta, 'b' .. ordinal, size)

    if ended then
        local before = trimmed
        while bytes > log_bytes and trimmed + 1 < ordinal do
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
        local ttl = ended and ttl_ms or 86400000
        for _, key in ipairs({stream, meta, head}) do redis.call('PEXPIRE', key, ttl) end
    end
    return {'ok'}
end

local answers = {}
for i, given in ipairs(cmsgpack.unpack(ARGV[5])) do
    -- What is wrong with one session's log keeps nobody else's events back.
    local is_done, answer = pcall(append, KEYS[3 * i - 2], KEYS[3 * i - 1], KEYS[3 * i], given)
    if not is_done then
        answer = {'error', tostring(type(answer) == 'table' and answer.err or answer)}
    end
    answers[i] = answer
end
return answers
