-- The generic cell rate algorithm, for one or two rates of one client.
-- KEYS: the rates. ARGV, for each: 'take' or 'look', microseconds for one, how many at once.
-- Answers 0, or how many microseconds until the first that has none left has one again.
-- By the server's time: clocks of gateways do not matter.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
for i, key in ipairs(KEYS) do
  local verb, period, burst = ARGV[3 * i - 2], tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i])
  -- When all is given back. Were the server's clock set back, nobody waits longer than for a whole allowance.
  local whole = math.min(tonumber(redis.call('GET', key) or now), now + period * burst)
  whole = math.max(whole, now)
  local wait = whole - period * (burst - 1) - now
  if wait > 0 then return math.ceil(wait) end
  if verb == 'take' then
    whole = whole + period
    redis.call('SET', key, string.format('%.3f', whole), 'PX', math.max(1, math.ceil((whole - now) / 1000)))
  end
end
return 0
