-- One request, one synchronous send with acks=all. A producer keeps what it sends in a buffer of its own, so each is
-- used by one request at a time, and handed on afterwards with its metadata and connections.
local Producer = require "nginx.kafka.producer"

local M = {}
local free = {}

function M.take(host, port, topic)
  ngx.req.read_body()
  local body = ngx.req.get_body_data()
  local id = ngx.var.http_idempotency_key
  if not body or not id then
    ngx.status = 400
    return ngx.exit(400)
  end
  local producer = table.remove(free)
  if not producer then
    producer = Producer:new({ { host = host, port = port } }, {
      producer_type = "sync", required_acks = -1, api_version = 2, request_timeout = 10000,
      socket_timeout = 10000, keepalive_timeout = 60000, keepalive_size = 512,
    })
  end
  local offset, err = producer:send(topic, id, body)
  if not offset then
    ngx.log(ngx.ERR, "not sent: ", err)
    ngx.status = 503
    return ngx.exit(503)
  end
  free[#free + 1] = producer
  local answer = '{"id":"' .. id .. '"}'
  ngx.status = 202
  ngx.header["content-type"] = "application/json"
  ngx.header["content-length"] = #answer
  ngx.print(answer)
end

return M
