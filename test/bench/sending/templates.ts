import { setImmediate as nextTurn } from 'node:timers/promises';
import { createTemplateRenderer } from '@carillon/adapter-handlebars';
import { templateOf } from '@carillon/domain/channels';
import type { EmailTemplate } from '@carillon/domain/configuration';
import { DEFAULT_LOCALITY, type JsonObject } from '@carillon/kernel';
import type { TemplateRenderer } from '@carillon/ports';
import Handlebars from 'handlebars';
import { events } from '../corpus.ts';
import type { BenchCase, Side } from '../harness/bench.ts';
import { closedLoop, spin } from '../harness/load.ts';
import { watchTimers } from '../harness/delays.ts';

const WARM = 200;
const COLD = 1_000;
const CONTEXTS = 100;
/** As many deliveries as wait for their texts at any time. */
const OPEN = 32;

/** 2.4 kB of HTML with a line for each item, as shops send it. `n` makes templates differ. */
function mailOf(n: number): EmailTemplate {
  const cell = 'style="padding:8px 12px;border-bottom:1px solid #e5e7eb;font:14px/20px sans-serif;color:#111827"';
  const html = `<!doctype html><html><head><meta charset="utf-8"><title>Order {{order_id}}</title></head>
<body style="margin:0;background:#f9fafb"><table width="100%" cellpadding="0" cellspacing="0"><tr><td align="center">
<table width="600" style="background:#ffffff;border:1px solid #e5e7eb;border-radius:8px"><tr><td style="padding:24px">
<h1 style="font:600 20px/28px sans-serif;color:#111827">Thank you, {{customer.name}}</h1>
<p style="font:14px/20px sans-serif;color:#374151">Your order {{order_id}} of campaign ${n} is {{status}}. We tell you at
{{customer.email}} when it leaves our warehouse; until then you can change the address, the gift wrapping and the day of delivery in
your account. The whole list is below, with the prices as they were when you ordered.</p>
<table width="100%">{{#each items}}<tr><td ${cell}>{{title}}</td><td ${cell}>{{sku}}</td><td ${cell}>{{qty}}</td>
<td ${cell}>{{price}} {{../currency}}</td></tr>{{/each}}</table>
<p style="font:600 16px/24px sans-serif;color:#111827">{{#if total}}Total: {{total}} {{currency}}{{else}}Nothing to pay{{/if}}</p>
<p style="font:12px/16px sans-serif;color:#6b7280">${'You get this message because you ordered from us. '.repeat(12)}</p>
</td></tr></table></td></tr></table></body></html>`;
  return {
    subject: `Order {{order_id}} (${n})`,
    html,
    text: 'Order {{order_id}}: {{total}} {{currency}}, {{status}}.',
  };
}

const contexts = (): readonly JsonObject[] => {
  const plain = events(CONTEXTS);
  return plain.map((event, at): JsonObject => {
    const more = plain[(at + 1) % CONTEXTS] ?? event;
    return { ...event, items: [...event.items, ...more.items] };
  });
};

type Texts = { readonly subject: string; readonly html: string; readonly text: string };

/** What a careful programmer has without us: compiled once per template, the parts filled in. */
function bareRenderer(): (n: number, context: JsonObject) => Texts {
  const cache = new Map<number, { readonly [Part in keyof Texts]: Handlebars.TemplateDelegate }>();
  return (n, context) => {
    let found = cache.get(n);
    if (!found) {
      const { subject, html, text } = mailOf(n);
      found = {
        subject: Handlebars.compile(subject, { noEscape: true }),
        html: Handlebars.compile(html),
        text: Handlebars.compile(text, { noEscape: true }),
      };
      cache.set(n, found);
    }
    return { subject: found.subject(context), html: found.html(context), text: found.text(context) };
  };
}

async function textsOf(renderer: TemplateRenderer, n: number, email: EmailTemplate, data: JsonObject): Promise<Texts> {
  const template = templateOf({ email }, 'email');
  if (!template) throw new Error('no email');
  const rendered = await renderer.render(`shop/mail-${n}@1`, template, data, DEFAULT_LOCALITY);
  if (!rendered.ok) throw new Error(`${rendered.part}: ${rendered.message}`);
  const { subject = '', html = '', text = '' } = rendered.parts;
  return { subject, html, text };
}

const carillonWarm: Side = {
  name: 'carillon',
  syncs: 'nothing',
  async open() {
    const renderer = createTemplateRenderer();
    const all = contexts();
    const templates = Array.from({ length: WARM }, (_, n) => mailOf(n));
    const render = (n: number): Promise<Texts> =>
      textsOf(renderer, n % WARM, templates[n % WARM] as EmailTemplate, all[n % CONTEXTS] as JsonObject);
    for (let n = 0; n < WARM; n += 1) await render(n);
    return {
      round: async ({ seconds }) => {
        const { done, seconds: took } = await closedLoop({ open: OPEN, seconds }, render);
        return { done, seconds: took };
      },
      async verify() {
        const bare = bareRenderer();
        const wrong: number[] = [];
        for (let n = 0; n < WARM; n += 1) {
          const [ours, theirs] = [await render(n), bare(n, all[n % CONTEXTS] as JsonObject)];
          if (ours.subject !== theirs.subject || ours.html !== theirs.html || ours.text.trim() !== theirs.text)
            wrong.push(n);
        }
        return wrong.length === 0
          ? []
          : [`${wrong.length} of ${WARM} templates come out otherwise than with Handlebars`];
      },
      close: () => renderer.close(),
    };
  },
};

const handlebarsWarm: Side = {
  name: 'Handlebars, cached',
  syncs: 'nothing',
  async open() {
    const all = contexts();
    const render = bareRenderer();
    let at = 0;
    let length = 0;
    const next = (): void => {
      length += render(at % WARM, all[at % CONTEXTS] as JsonObject).html.length;
      at += 1;
    };
    while (at < WARM) next();
    return {
      round: async ({ seconds }) => spin(seconds, 1, next),
      verify: async () => (length > at * 2_000 ? [] : ['the mails are shorter than their template']),
    };
  },
};

type Render = (n: number, context: JsonObject) => Promise<Texts>;

/** Mails of templates that were never seen before, while timers of this thread are watched. */
function cold(name: string, open: () => { readonly render: Render; close?(): Promise<void> }): Side {
  return {
    name,
    syncs: 'nothing',
    async open() {
      const opened = open();
      const all = contexts();
      let seen = 0;
      let wrong = 0;
      return {
        async round({ number, seconds }) {
          // The warm-up brings up the worker; it may be shorter.
          const last = seen + (number === 0 ? Math.min(COLD, Math.ceil(100 * seconds)) : COLD);
          const before = seen;
          const begun = performance.now();
          const watch = watchTimers();
          const lane = async (): Promise<void> => {
            while (seen < last) {
              const n = (seen += 1);
              const { html } = await opened.render(n, all[n % CONTEXTS] as JsonObject);
              if (!html.includes(`of campaign ${n} is`)) wrong += 1;
            }
          };
          await Promise.all(Array.from({ length: OPEN }, lane));
          const delays = await watch.stop();
          return { done: last - before, seconds: (performance.now() - begun) / 1000, delays };
        },
        verify: async () => (wrong === 0 ? [] : [`${wrong} mails are not of their template`]),
        close: async () => opened.close?.(),
      };
    },
  };
}

const carillonCold = cold('carillon', () => {
  const renderer = createTemplateRenderer();
  return { render: (n, data) => textsOf(renderer, n, mailOf(n), data), close: () => renderer.close() };
});

/** Lets the loop turn between two mails, as a program that sends them would. */
const handlebarsCold = cold('Handlebars, inline', () => {
  const render = bareRenderer();
  return { render: (n, data) => nextTurn().then(() => render(n, data)) };
});

const COLD_COUNT = COLD.toLocaleString('en');

export const templateCases: readonly BenchCase[] = [
  {
    title: `${WARM} warm templates`,
    counted: 'mails',
    sides: [carillonWarm, handlebarsWarm],
    comparisons: [
      { side: 'carillon', to: 'Handlebars, cached', measure: 'rate', wanted: 'at least', floor: 0.95, goal: 0.99 },
    ],
  },
  {
    title: `${COLD_COUNT} cold templates`,
    counted: 'mails',
    delays: 'those of timers in the calling thread',
    sides: [carillonCold, handlebarsCold],
    comparisons: [{ side: 'carillon', measure: 'p99', wanted: 'at most', floor: 20, goal: 10 }],
  },
];

export const TEMPLATES_TEXT = `Templates: mails of 2.4 kB of HTML with eight items, subject and text. Warm: ${WARM} templates that were rendered before, with ${OPEN}
renderings open. Cold: ${COLD_COUNT} new templates, judged by how late timers of the calling thread become. Handlebars alone has no bound for its work.`;
