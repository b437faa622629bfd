import { ERRORS, type ErrorCode } from '@carillon/kernel';
import { html, type Markup } from '../pages/markup.ts';

export const INTAKE_ID = 'send-event';
const SUMMARY = 'Sends an event to a stream';
const PATH = '/{workspace}/{stream}';

/** Refusals that a sender of events has to handle. */
const PROBLEMS = [
  'invalid_json',
  'invalid_cloudevent',
  'invalid_idempotency_key',
  'unauthorized',
  'body_too_large',
  'unsupported_media_type',
  'rate_limited',
  'log_unavailable',
  'overloaded',
] as const satisfies readonly ErrorCode[];

const HEADERS = [
  ['Authorization', 'Bearer and an API key of the stream, or a token of its JWT provider. Required.'],
  [
    'Content-Type',
    'application/json or application/cloudevents+json for one event, application/x-ndjson or application/cloudevents-batch+json for a batch. Required.',
  ],
  [
    'Idempotency-Key',
    'Your id of the event, 1 to 255 visible ASCII characters. A repeat with the same key is the same event, so nobody is notified twice.',
  ],
] as const;

/** The row of the intake in the list of operations. */
export const intakeEntry = (eventsUrl: string) => ({
  id: INTAKE_ID,
  method: 'POST',
  path: `${eventsUrl}${PATH}`,
  summary: SUMMARY,
});

/** The intake of events. The gateway serves it at an address of its own, so it is not in the description of the management API. */
export const intakeSection = (eventsUrl: string): Markup =>
  html`<section aria-labelledby="tag-intake">
    <h2 id="tag-intake">Intake of events</h2>
    <article aria-labelledby="${INTAKE_ID}">
      <h3 id="${INTAKE_ID}">${SUMMARY}</h3>
      <p class="call">
        <code><b>POST</b> ${eventsUrl}${PATH}</code>
        <span class="needs">needs an API key or a token of the stream</span>
      </p>
      <p>
        Each event stream has its own address. The page of the stream in the portal shows it with its keys. A rule with
        a stream of its own has the address <code>${eventsUrl}/{workspace}/{notification}.{rule}</code>.
      </p>
      <div class="wide" role="region" aria-label="Headers of an event" tabindex="0">
        <table>
          <caption>
            Headers of an event
          </caption>
          <thead>
            <tr>
              <th scope="col">Header</th>
              <th scope="col">What it says</th>
            </tr>
          </thead>
          <tbody>
            ${HEADERS.map(
              ([name, words]) =>
                html`<tr>
                  <th scope="row"><code>${name}</code></th>
                  <td>${words}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
      <p>
        Takes one JSON object of at most 256 KiB. Answers 202 with its <code>id</code> once the event is stored. After
        any other answer the same event may be sent again with the same key.
      </p>
      <p>
        A batch is one JSON object on each line, up to 1,000 objects and 5 MiB. Answers 202 if all are stored, else 207,
        with <code>items</code>: the <code>id</code> or the <code>problem</code> of each, in order. Line N is named
        <code>&lt;Idempotency-Key&gt;:&lt;N&gt;</code>, so the whole request may be sent again.
      </p>
      <p>
        Of a CloudEvent the <code>data</code> is the event, and <code>source</code> and <code>id</code> take the place
        of the key. In binary mode the attributes are headers <code>ce-id</code> and so on, with application/json.
      </p>
      <details open>
        <summary>An event, for example</summary>
        <pre tabindex="0"><code>${example(eventsUrl)}</code></pre>
      </details>
      <details>
        <summary>Its problems</summary>
        <ul>
          ${PROBLEMS.map((code) => html`<li>${ERRORS[code].status} <code>${code}</code>: ${ERRORS[code].title}</li>`)}
        </ul>
      </details>
    </article>
  </section>`;

const example = (eventsUrl: string): string => `curl -X POST ${eventsUrl}/shop/orders \\
  -H "Authorization: Bearer $CARILLON_API_KEY" \\
  -H 'Content-Type: application/json' -H 'Idempotency-Key: order-A-1001-paid' \\
  -d '{ "order_id": "A-1001", "status": "paid", "total": 120, "customer": { "email": "ada@example.com" } }'

202
{ "id": "evt_4N7J2K9QXT5RWB3M8C6VZ0D1EF" }`;
