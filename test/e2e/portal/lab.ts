import { createServer } from 'node:net';
import { startScriptedSmtp, untilFound } from '@carillon/testing';
import type { Demo, SharedDemo } from './support.ts';

/** A listener that should never hear from anybody. */
export type Trap = { readonly origin: string; visits(): number; stop(): Promise<void> };

export async function startTrap(): Promise<Trap> {
  let visits = 0;
  const server = createServer((socket) => {
    visits += 1;
    socket.destroy();
  });
  await new Promise<void>((settle) => void server.listen(0, '127.0.0.1', settle));
  const bound = server.address();
  const port = typeof bound === 'object' && bound ? bound.port : 0;
  return {
    origin: `http://127.0.0.1:${port}`,
    visits: () => visits,
    stop: () => new Promise((settle) => void server.close(() => settle())),
  };
}

/** Everything that a template can try against whoever reads its mail in the portal. */
const hostileBody = (trap: string): string => `<!doctype html><html><head>
<meta http-equiv="refresh" content="0;url=${trap}/refresh">
<base href="${trap}/" target="_top">
<link rel="preconnect" href="${trap}"><LINK/rel=stylesheet href="${trap}/style.css"><link rel="prefetch" href="${trap}/pre">
<style>@import url(${trap}/import.css); body { background: url(${trap}/back.png) } @font-face { font-family: x; src: url(${trap}/f) } p { font-family: x }</style>
<script>document.title = 'RAN'; top.ran = true; fetch('${trap}/script')</script>
</head><body onload="top.ran = true"><p id="words">Hello {{ name }}</p>
<img src="${trap}/pixel.png" onerror="top.ran = true"><img src="x" onerror="document.body.id = 'ran'">
<svg onload="top.ran = true"><image href="${trap}/svg.png"/></svg>
<iframe src="${trap}/frame"></iframe><iframe srcdoc="<script>top.ran = true</script>"></iframe>
<object data="${trap}/object"></object><embed src="${trap}/embed"><video src="${trap}/video" poster="${trap}/poster"></video>
<form action="${trap}/form" method="post"><input name="password"><button id="send">Log in</button></form>
<a id="top" target="_top" href="${trap}/top">leave</a> <a id="here" target="_self" href="${trap}/here">go</a>
<a id="blank" target="_blank" href="${trap}/blank">open</a> <a id="js" href="javascript:top.ran=true">run</a>
<a id="ping" href="#" target="_self" ping="${trap}/ping">ping</a>
</body></html>`;

const notification = (kind: string, uniqueId: string, template: string, account = ''): string => `name: ${kind}
channels:
  email: { template: ${template}${account} }
rules:
  r:
    stream: orders
    when: event.kind == "${kind}"
    recipients: { from: event, to: { email: event.email }, unique_id: ${uniqueId} }
`;

/** Names many, of whom nobody is told. */
const MANY = `name: many
channels:
  email: { template: plain }
rules:
  r:
    stream: orders
    when: event.kind == "many"
    recipients: { from: event, for_each: event.people, to: { email: item }, where: event.kind != "many" }
`;

export type Lab = {
  readonly key: string;
  /** Waits until the deliveries are in these states, sorted by name. */
  untilStates(...states: readonly string[]): Promise<void>;
  stop(): Promise<void>;
};

/** A second workspace in which things go wrong: hostile templates, doubts, duplicates. */
export async function openLab(demo: SharedDemo, trap: Trap): Promise<Lab> {
  // The connection breaks off after the whole message came: nobody can say whether it was accepted.
  const smtp = await startScriptedSmtp({
    script: ({ stage }) => (stage === 'dot' ? { ending: 'drop' } : undefined),
  });
  const key = await demo.makeKey('lab', 'backend');
  const at = 'workspaces/lab';
  await demo.apply({
    [`${at}/workspace.yaml`]: 'name: Lab\n',
    [`${at}/streams/orders.yaml`]: 'security: { api_keys: [backend] }\n',
    [`${at}/accounts/flaky.yaml`]: `kind: smtp\nhost: 127.0.0.1\nport: ${smtp.port}\ntls: none\nfrom: lab@example.com\n`,
    // Ten doubts in a row, and an account rests: the other one takes over.
    [`${at}/accounts/as-flaky.yaml`]: `kind: smtp\nhost: 127.0.0.1\nport: ${smtp.port}\ntls: none\nfrom: lab@example.com\n`,
    [`${at}/templates/plain/email.yaml`]: 'subject: "{{ subject }}"\nfrom: lab@example.com\n',
    [`${at}/templates/plain/email.txt`]: 'Hello {{ name }}\n',
    [`${at}/templates/hostile/email.yaml`]: 'subject: "{{ subject }}"\nfrom: lab@example.com\n',
    [`${at}/templates/hostile/email.html`]: hostileBody(trap.origin),
    [`${at}/templates/hostile/email.txt`]: 'In text.\n',
    [`${at}/notifications/hostile.yaml`]: notification('hostile', 'event_id', 'hostile'),
    [`${at}/notifications/once.yaml`]: notification('once', 'event.email', 'plain'),
    [`${at}/notifications/many.yaml`]: MANY,
    [`${at}/notifications/doubt.yaml`]: notification('doubt', 'event_id', 'plain', ', accounts: [flaky, as-flaky]'),
  });
  return {
    key,
    async untilStates(...states) {
      await untilFound(states.join(), async () => {
        const { items } = await demo.ask<{ items: { state: string }[] }>('/v1/workspaces/lab/deliveries');
        return (
          items
            .map(({ state }) => state)
            .toSorted()
            .join() === states.join() || undefined
        );
      });
    },
    stop: () => smtp.stop(),
  };
}

/** Sends an order to the workspace of the demo, with a key of its own; answers when its message is sent. */
export async function sendOrder(demo: Demo): Promise<void> {
  const key = await demo.makeKey('shop', 'second');
  const stream = 'key: event.order_id\nsecurity: { api_keys: [backend, second] }\n';
  await demo.apply({ 'workspaces/shop/streams/orders.yaml': stream });
  const customer = { name: 'Ada', email: 'ada@example.com' };
  await demo.send('shop/orders', key, { order_id: 'A-1', status: 'paid', total: 120, customer });
  await untilFound('the order is told of', async () => {
    const { items } = await demo.ask<{ items: { state: string }[] }>('/v1/workspaces/shop/deliveries');
    return items.some(({ state }) => state === 'SENT') || undefined;
  });
}
