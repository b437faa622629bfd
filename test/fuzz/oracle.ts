import { ERRORS_PAGE, problemSchema } from '@carillon/contracts';
import { EVENT_LIMITS } from '@carillon/domain/events';
import { ERRORS, type ErrorCode } from '@carillon/kernel';
import type { Answer, Exchange } from './exchange.ts';
import { judgeRefusal } from './json-refusals.ts';

/** What stands nowhere in an answer: keys and tokens by name, and the folders of this machine. */
export type Secrets = Readonly<Record<string, string>>;

/** Codes that passing trouble has. */
const PASSING: ReadonlySet<string> = new Set(['overloaded', 'configuration_stale', 'stopping']);
/** Nobody who only sends requests may ever see these. */
const NEVER: ReadonlySet<string> = new Set(
  Object.entries(ERRORS).flatMap(([code, { status }]) => (status === 500 ? [code] : [])),
);

/** Statuses of refusals that any address may have: of what is no request that anybody could read, or of too many. */
const ANY = [400, 404, 405, 408, 413, 429, 503];

/** Addresses that have one contract, and what may come from them. */
type Family = {
  readonly path: RegExp;
  readonly statuses: ReadonlySet<number>;
  /** Statuses of these that come only where something is written. */
  readonly whenWriting?: ReadonlySet<number>;
  /** Codes of 503 that last as long as the configuration says so; elsewhere nothing is needed that could be missing. */
  readonly lasting?: ReadonlySet<string>;
};

/** Links of messages. */
const LINKS = /^\/(?:unsubscribe|preferences)\//;

const FAMILIES: readonly Family[] = [
  {
    path: /^\/events\//,
    statuses: new Set([...ANY, 202, 204, 207, 401, 403, 415]),
    lasting: new Set(['keys_unavailable']),
  },
  { path: /^\/cohorts\//, statuses: new Set([...ANY, 200, 202, 401, 415]), lasting: new Set(['secret_missing']) },
  { path: /^\/receipts\//, statuses: new Set([...ANY, 204, 401, 415]), lasting: new Set(['keys_unavailable']) },
  // Pages for people, and the one click of a mail program.
  { path: LINKS, statuses: new Set([...ANY, 200, 303, 415]) },
  { path: /^\/(?:livez|readyz)$/, statuses: new Set([...ANY, 200]) },
  // Not for strangers: one is whoever does not call the port by its own name.
  { path: /^\/metrics$/, statuses: new Set([...ANY, 200, 401]) },
  { path: /^\/v1\/session$/, statuses: new Set([...ANY, 200, 401, 403, 415]) },
  {
    path: /^\/v1(?:\/|$)/,
    statuses: new Set([...ANY, 200, 201, 202, 401, 403, 409, 412, 415, 428]),
    // 202: a job was started.
    whenWriting: new Set([201, 202, 409, 412, 428]),
  },
  // Several requests on one connection, or none that anybody could read.
  { path: /^$/, statuses: new Set([...ANY, 200, 202, 204, 207, 401, 403, 415]) },
  // The portal.
  { path: /^/, statuses: new Set([...ANY, 200, 302, 304, 401, 415]) },
];
const familyOf = (path: string): Family | undefined => FAMILIES.find((one) => one.path.test(path.split('?')[0] ?? ''));

/** Whether nothing documents the status there, for this method. */
function isUndocumented({ path, method }: AskedFor, status: number): boolean {
  const family = familyOf(path);
  if (!family?.statuses.has(status)) return true;
  return (family.whenWriting?.has(status) ?? false) && (method === 'GET' || method === 'HEAD');
}

const STACK = /\n\s*at [^\n]{1,200}:\d+|node:internal|file:\/\/\/\S+\.[cm]?[jt]s|node_modules|\bat \w+\.\w+ \(/;

/** What was asked: the path decides what is documented; `bodiless`: a HEAD, whose answer has no body. */
export type AskedFor = { readonly path: string; readonly method: string; readonly bodiless: boolean };

/** What is wrong with one answer; null where nothing is. */
export function judgeAnswer(answer: Answer, asked: AskedFor, secrets: Secrets): string | null {
  const { status, headers, body } = answer;
  const { path } = asked;
  if (status === 0) return `this is no HTTP: ${body.slice(0, 200)}`;
  if (status >= 500 && status !== 503) return `status ${status}: ${body.slice(0, 300)}`;
  if (isUndocumented(asked, status)) return `status ${status}, which nothing documents: ${body.slice(0, 300)}`;
  if ((status === 503 || status === 429) && !/^[1-9]\d{0,4}$/.test(headers.get('retry-after') ?? '')) {
    return `status ${status} without Retry-After in whole seconds`;
  }
  if (status === 401 && !headers.has('www-authenticate')) return 'status 401 without WWW-Authenticate';
  const whole = `${[...headers].map(([name, value]) => `${name}: ${value}`).join('\n')}\n${body}`;
  // The owner is told where the data is.
  const leak = leakIn(whole, path.split('?')[0] === '/v1/doctor' ? { ...secrets, 'folder of the data': '' } : secrets);
  if (leak !== null) return leak;
  return status < 400 ? null : judgeProblem(answer, asked);
}

/** A secret, a stack trace or a path of the machine in a text; null: none of these. */
export function leakIn(text: string, secrets: Secrets): string | null {
  for (const [name, value] of Object.entries(secrets)) {
    if (value !== '' && text.includes(value)) return `it shows the ${name}`;
  }
  const stack = STACK.exec(text);
  return stack ? `it shows a stack trace or a path: …${text.slice(stack.index, stack.index + 120)}` : null;
}

/** A refusal is a problem by RFC 9457 with a code of the table. A cohort platform gets its own form instead. */
function judgeProblem({ status, headers, body }: Answer, { path, bodiless }: AskedFor): string | null {
  const type = headers.get('content-type') ?? '';
  if (body === '' && bodiless) return null;
  if (path.startsWith('/cohorts/') && type === 'application/json; charset=utf-8') return null;
  // Whoever follows a link is a person: a page, without script, that says nothing of where it was found.
  if (LINKS.test(path) && type.startsWith('text/html')) {
    if (!headers.get('content-security-policy')?.includes("default-src 'none'")) return 'a page that may run script';
    return headers.get('referrer-policy') === 'no-referrer' ? null : 'a page whose links tell its address';
  }
  if (type !== 'application/problem+json') return `a refusal as ${type}: ${body.slice(0, 200)}`;
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(body, 'latin1').toString('utf8'));
  } catch {
    return `a problem that is no JSON: ${body.slice(0, 200)}`;
  }
  const read = problemSchema.safeParse(json);
  if (!read.success) return `a problem in another form: ${read.error.message.slice(0, 300)}`;
  const { code, type: link, status: said, detail, title, request_id: id } = read.data;
  const known = Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode] : undefined;
  if (!known) return `an unknown code: ${code}`;
  if (link !== `${ERRORS_PAGE}#${code}` || title !== known.title) return `type or title are not those of ${code}`;
  if (said !== status || known.status !== status) return `${code} with status ${status}, and ${said} in the body`;
  if (detail === '' || id === '') return `${code} without a detail or a request id`;
  if (NEVER.has(code)) return `the code ${code}`;
  return null;
}

/** What a whole exchange came to. */
export type Verdict = {
  readonly fault: string | null;
  /** Refused for a reason that passes: worth another try before it is a fault. */
  readonly passing: boolean;
};

/** A refusal that says of the body what is not so. */
function misreadIn(
  answers: readonly Answer[],
  { path, request }: AskedFor & { readonly request: string },
): string | null {
  for (const { status, body } of answers) {
    const [, code = ''] = status === 400 ? (/"code":"(\w+)"/.exec(body) ?? []) : [];
    const misread = judgeRefusal(request, path, code, EVENT_LIMITS);
    if (misread !== null) return misread;
  }
  return null;
}

/** Judges all that came back over one connection. `stays`: the client waited, so it has to have an answer. */
export function judgeExchange(
  seen: Exchange,
  asked: AskedFor & { readonly client: 'stays' | 'leaves'; readonly limit: number; readonly request: string },
  secrets: Secrets,
): Verdict {
  const fault = (what: string): Verdict => ({ fault: what, passing: false });
  if (seen.refused !== null) return fault(`nobody could talk to it: ${seen.refused}`);
  if (seen.end === 'late') return fault(`not done within ${asked.limit} ms`);
  if (asked.client === 'stays' && seen.answers.length === 0)
    return fault('the connection was closed without an answer');
  for (const answer of seen.answers) {
    const found = judgeAnswer(answer, asked, secrets);
    if (found !== null) return fault(found);
  }
  const misread = asked.client === 'stays' ? misreadIn(seen.answers, asked) : null;
  if (misread !== null) return fault(misread);
  const unavailable = seen.answers.find(({ status }) => status === 503);
  if (!unavailable) return { fault: null, passing: false };
  const [, code = ''] = /"code":"(\w+)"/.exec(unavailable.body) ?? [];
  if (familyOf(asked.path)?.lasting?.has(code)) return { fault: null, passing: false };
  if (PASSING.has(code)) return { fault: `still ${code} after another try`, passing: true };
  return { fault: `status 503 with ${code}, though nothing is away`, passing: false };
}

/** What the product wrote to standard error that says it met something it did not expect. */
export function judgeLog(text: string, secrets: Secrets): string | null {
  const unhandled = /unhandled|uncaught|UnhandledPromiseRejection|MaxListenersExceeded|heap out of memory/i.exec(text);
  if (unhandled) return `standard error: …${text.slice(Math.max(0, unhandled.index - 200), unhandled.index + 600)}`;
  const shown = Object.entries(secrets).find(([name, value]) => !name.startsWith('folder') && text.includes(value));
  return shown ? `standard error shows the ${shown[0]}` : null;
}
