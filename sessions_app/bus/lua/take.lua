-- Counts events of the last minute, in slots: all of the counters or none.
--
-- KEYS: counters
-- ARGV: slot_s, slots, then limit (-1 for none) and amount for each key
-- Answers {0, '0', totals…}, or {position, seconds, totals…}: that counter is full, and
-- has room again after so long. The clock is Redis' own, one for all processes.
local slot_s, slots = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local slot = math.floor(now / slot_s)
local totals = {}
local full, wait = 0, 0

for position, key in ipairs(KEYS) do
    local limit = tonumber(ARGV[2 * position + 1])
    local amount = tonumber(ARGV[2 * position + 2])
    local kept = redis.call('HGETALL', key)
    local counts, total = {}, 0
    for at = 1, #kept, 2 do
        local counted = tonumber(kept[at])
        if counted <= slot - slots then
            redis.call('HDEL', key, kept[at])
        else
            counts[#counts + 1] = {counted, tonumber(kept[at + 1])}
            total = total + tonumber(kept[at + 1])
        end
    end
    totals[position] = total
    if full == 0 and limit >= 0 and total + amount > limit then
        full, wait = position, slot_s * slots
        table.sort(counts, function(a, b) return a[1] < b[1] end)
        local left = total
        for _, entry in ipairs(counts) do
            left = left - entry[2]
            if left + amount <= limit then
                wait = (entry[1] + slots) * slot_s - now
                break
            end
        end
    end
end

if full == 0 then
    for position, key in ipairs(KEYS) do
        local amount = tonumber(ARGV[2 * position + 2])
        if amount > 0 then
            redis.call('HINCRBY', key, slot, amount)
            redis.call('EXPIRE', key, math.ceil(slot_s * slots) + 1)
            totals[position] = totals[position] + amount
        end
    end
end
return {full, tostring(wait), unpack(totals)}
