import type { EventContentBody, DeliveryContentBody, TraceBody } from '@carillon/contracts';
import { seg, type Client } from '../client.ts';
import { clean, paint, shortTime } from '../output.ts';

/** Bodies of the event and the message. Null if the trace has none, or several. */
export type Content = {
  readonly event: EventContentBody | null;
  readonly message: DeliveryContentBody | null;
};

/** Lines of a body that are shown where nobody asked for the whole. */
const FOLDED_LINES = 40;
const WHOLE = { limit: '2000' };

/** Asks for the event of a story, and for its message where it made one. `path`: of the workspace. */
export async function readContent(client: Client, path: string, trace: TraceBody, isWhole: boolean): Promise<Content> {
  const first = trace.steps.find(({ step }) => step === 'event');
  const deliveries = (trace.people?.items ?? []).flatMap(({ delivery }) => (delivery === null ? [] : [delivery]));
  const delivery = trace.kind === 'delivery' ? trace.id : deliveries.length === 1 ? deliveries[0] : undefined;
  const event = first?.id ? await readEvent(client, path, first.id, first.position, isWhole) : null;
  const message = delivery === undefined ? null : await readMessage(client, path, delivery, isWhole);
  return { event, message };
}

async function readEvent(
  client: Client,
  path: string,
  id: string,
  position: string | null,
  isWhole: boolean,
): Promise<EventContentBody> {
  const where = `${path}/events/${seg(id)}/content`;
  const query = { position: position ?? undefined, limit: isWhole ? WHOLE.limit : String(FOLDED_LINES) };
  const content = await client.get<EventContentBody>(where, query);
  while (isWhole && content.next !== null) {
    const more = await client.get<EventContentBody>(where, { ...query, cursor: content.next });
    content.lines.push(...more.lines);
    content.next = more.next;
  }
  return content;
}

async function readMessage(client: Client, path: string, id: string, isWhole: boolean): Promise<DeliveryContentBody> {
  const where = `${path}/deliveries/${seg(id)}/content`;
  const content = await client.get<DeliveryContentBody>(where, {});
  for (const part of isWhole ? content.parts : []) {
    while (part.next !== null) {
      const more = await client.get<DeliveryContentBody>(where, { part: part.name, cursor: part.next });
      const [piece] = more.parts;
      part.text += piece?.text ?? '';
      part.next = piece?.next ?? null;
    }
  }
  return content;
}

export const showContent = ({ event, message }: Content, isWhole: boolean): readonly string[] => [
  ...(event ? eventLines(event) : []),
  ...(message ? messageLines(message, isWhole) : []),
];

const heading = (text: string, more: string): string[] => ['', `${paint('bold', text)}  ${paint('dim', clean(more))}`];
const folded = paint('dim', '  … there is more: --whole shows it');

function eventLines(event: EventContentBody): readonly string[] {
  const { lines, fields, whole, gone, next } = event;
  const head = heading('what came in', `${event.id}, ${event.bytes} bytes on ${event.stream}`);
  if (gone !== null) return [...head, `  ${clean(gone)}`];
  const shown = lines.map(({ text, read_by: by }) => {
    const marks = by.length === 0 ? '' : `  ${paint('cyan', `← ${clean(by.join(', '))}`)}`;
    return `  ${clean(text)}${marks}`;
  });
  const absent = fields.filter((field) => !field.is_there);
  return [
    ...head,
    ...shown,
    ...(next === null ? [] : [folded]),
    ...absent.map(
      ({ path, read_by: by }) => `  not in the event: ${clean(path)}  ${paint('cyan', `← ${clean(by.join(', '))}`)}`,
    ),
    ...whole.map((by) => `  the whole event is read by ${clean(by)}`),
  ];
}

function messageLines(message: DeliveryContentBody, isWhole: boolean): readonly string[] {
  const { id, channel, template, template_version: version, problem, missing, replies } = message;
  const head = heading('what went out', `${id}, ${channel} by template ${template} version ${version}, rendered again`);
  return [
    ...head,
    ...message.parts.flatMap((part) => partLines(part, isWhole)),
    ...(problem === null ? [] : [`  cannot be rendered: ${clean(problem)}`]),
    ...message.notes.map((note) => `  ${clean(note)}`),
    ...missing.map((name) => `  missing: ${clean(name)} became empty text`),
    ...replies.map(({ at, account, verdict, code, words, provider_id: name }) => {
      const said = verdict === null ? 'no answer is known' : `${verdict} ${code} ${words}`;
      const own = name === null ? '' : `, which it calls ${name}`;
      return `  ${paint('dim', shortTime(at))}  ${clean(`${account}: ${said}${own}`)}`;
    }),
  ];
}

function partLines({ name, text, next }: DeliveryContentBody['parts'][number], isWhole: boolean): readonly string[] {
  const lines = text.split('\n').map(clean);
  const shown = isWhole ? lines : lines.slice(0, FOLDED_LINES);
  const isFolded = shown.length < lines.length || next !== null;
  const head = `  ${paint('bold', name)}`;
  const body = lines.length === 1 ? [`${head}  ${lines[0] ?? ''}`] : [head, ...shown.map((line) => `    ${line}`)];
  return isFolded ? [...body, folded] : body;
}
