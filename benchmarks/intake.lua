-- For wrk: requests made of a template, and what came of them as one line of JSON.
--   wrk -s intake.lua URL -- [SEED TEMPLATE]
-- In the template %s becomes 128 random bits in hex, and %d a random whole number of 0..4.
-- Without one, plain GET requests.

local random = math.random

function init(args)
  if not args[2] then return end
  local seed, template = tonumber(args[1]), args[2]
  local _, numbers = template:gsub('%%d', '')
  math.randomseed(seed)

  local function hex()
    return string.format('%04x%04x%04x%04x%04x%04x%04x%04x',
      random(0, 65535), random(0, 65535), random(0, 65535), random(0, 65535),
      random(0, 65535), random(0, 65535), random(0, 65535), random(0, 65535))
  end

  function request()
    local draws = {}
    for i = 1, numbers do draws[i] = random(0, 4) end
    return wrk.format('POST', nil, { ['Content-Type'] = 'application/json' },
      template:format(hex(), hex(), unpack(draws)))
  end
end

function done(summary, latency)
  local e = summary.errors
  print(string.format(
    '{"requests": %d, "seconds": %f, "p50": %f, "p99": %f, "refused": %d, "broken": %d}',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3, e.status, e.connect + e.read + e.write + e.timeout))
end
