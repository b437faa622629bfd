/** Takes OTLP/HTTP traces in a process of its own and drops them. It says its port by IPC, and for any message how many bytes came. */
import { createServer } from 'node:http';

let bytes = 0;
const server = createServer((request, response) => {
  request.on('data', (chunk: Buffer) => (bytes += chunk.length));
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end());
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined });
});
process.on('message', () => process.send?.({ bytes }));
process.on('disconnect', () => process.exit());
