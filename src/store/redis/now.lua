-- The server's time, in milliseconds: clocks of gateways do not matter.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
