"""aiohttp in front of librdkafka: 202 once the delivery report of the event has come (acks=all, idempotent)."""

import asyncio
import sys
import threading

from aiohttp import web
from confluent_kafka import KafkaException, Producer

port, brokers, topic = sys.argv[1:4]
producer = Producer({"bootstrap.servers": brokers, "acks": "all", "enable.idempotence": True})
ending = threading.Event()


def poll() -> None:
    while not ending.is_set():
        producer.poll(0.1)


async def take(request: web.Request) -> web.Response:
    body = await request.read()
    key = request.headers["idempotency-key"]
    loop = asyncio.get_running_loop()
    done = loop.create_future()

    def settle(error) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(KafkaException(error))

    def reported(error, _message) -> None:
        loop.call_soon_threadsafe(settle, error)

    producer.produce(topic, body, key, on_delivery=reported)
    await done
    return web.json_response({"id": key}, status=202)


app = web.Application()
app.add_routes([web.post("/events", take)])
threading.Thread(target=poll, daemon=True).start()
try:
    web.run_app(app, host="127.0.0.1", port=int(port), access_log=None, print=None)
finally:
    ending.set()
