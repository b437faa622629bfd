import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call as the partner saw it. */
export type PartnerRequest = {
  readonly userIds: readonly string[];
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The caller's end of the connection: tells which process it was. */
  readonly port: number;
};

/** What the partner does: JSON to answer with 200, or anything done to the response by hand. */
export type PartnerScript = (request: PartnerRequest, response: ServerResponse) => unknown;

export type ScriptedPartner = {
  readonly port: number;
  readonly url: string;
  /** Every call, in the order of arrival. */
  readonly calls: PartnerRequest[];
  /** Calls that wait for their answer now, and the most that ever did. */
  open(): number;
  mostOpen(): number;
  /** Sets the behaviour from now on. The script's return value is sent as JSON, unless it is undefined. */
  follow(script: PartnerScript): void;
  stop(): Promise<void>;
};

const person = (id: string) => ({
  to: { email: `${id}@example.com` },
  variables: { user_id: id, name: `Name of ${id}` },
});
/** Answers as specification 4.2 wants it: an item for each id, with the id in the variables. */
export const answersEverybody: PartnerScript = ({ userIds }) => userIds.map(person);

/** A partner's recipient-lookup endpoint on loopback that does what a test tells it. */
export async function startScriptedPartner(): Promise<ScriptedPartner> {
  let script: PartnerScript = answersEverybody;
  let open = 0;
  let mostOpen = 0;
  const calls: PartnerRequest[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.once('close', () => (open -= 1));
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString('utf8')) as { user_ids: string[] };
    const { method = '', url: path = '', headers } = request;
    const { remotePort: port = 0 } = request.socket;
    const call: PartnerRequest = { userIds: body.user_ids, method, path, headers, port };
    calls.push(call);
    const items: unknown = await script(call, response);
    if (items === undefined || response.headersSent) return;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(items));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/recipients`,
    calls,
    open: () => open,
    mostOpen: () => mostOpen,
    follow(next) {
      script = next;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
