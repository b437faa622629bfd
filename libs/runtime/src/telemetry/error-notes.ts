import { isCarillonError } from '@carillon/kernel';
import { cut, scrub, scrubForeign } from './scrub.ts';

/**
 * Loggable facts of a thrown value. Never its other properties, because libraries attach requests, responses and
 * settings there.
 */
export type ErrorNote = {
  readonly type: string;
  readonly code?: string;
  readonly status?: number;
  readonly message: string;
  readonly stack?: readonly string[];
  readonly cause?: ErrorNote;
  readonly errors?: readonly ErrorNote[];
};

const DEPTH = 4;
const BRANCHES = 4;
const FRAMES = 12;
const WORD = /^[A-Za-z_$][\w.$-]{0,63}$/;

/** Describes any thrown value. Never throws, because logging must not fail because of it. */
export function noteOf(error: unknown, depth = 0): ErrorNote {
  try {
    return describe(error, depth);
  } catch {
    return { type: 'unknown', message: 'the error could not be read' };
  }
}

/** The kind of a thrown value as a word for spans and labels: our code, a code of the system, or the name of its class. */
export function typeOf(error: unknown): string {
  try {
    if (!isRecord(error)) return typeof error;
    return wordOf(error['code']) ?? wordOf(error['name']) ?? 'Error';
  } catch {
    return 'unknown';
  }
}

function describe(error: unknown, depth: number): ErrorNote {
  if (typeof error === 'string') return { type: 'string', message: cut(scrubForeign(error), 300) };
  if (!isRecord(error) || typeof error['message'] !== 'string') {
    return { type: typeof error, message: 'something was thrown that is not an error' };
  }
  const { name, code, status, statusCode, message, stack, cause, errors } = error;
  const more = depth < DEPTH;
  const codeWord = wordOf(code) ?? (Number.isSafeInteger(code) ? String(code) : undefined);
  const statusNumber = [status, statusCode].find((value) => typeof value === 'number' && Number.isSafeInteger(value));
  return {
    type: wordOf(name) ?? 'Error',
    ...(codeWord === undefined ? {} : { code: codeWord }),
    ...(typeof statusNumber === 'number' ? { status: statusNumber } : {}),
    message: isCarillonError(error) ? cut(scrub(error.message), 1000) : cut(scrubForeign(message), 300),
    ...(typeof stack === 'string' ? { stack: framesOf(stack, message) } : {}),
    ...(more && cause !== undefined && cause !== null ? { cause: noteOf(cause, depth + 1) } : {}),
    ...(more && Array.isArray(errors)
      ? { errors: errors.slice(0, BRANCHES).map((one: unknown) => noteOf(one, depth + 1)) }
      : {}),
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Returns a name or code only if scrubbing leaves it unchanged, because third parties set it. */
const wordOf = (value: unknown): string | undefined =>
  typeof value === 'string' && WORD.test(value) && scrub(value) === value ? value : undefined;

const FRAME = /^\s+at (?:async )?(?:([^()]{1,200}) \()?([^()]*?:\d+:\d+|native|<anonymous>)\)?$/;

/** The frames of a stack, without the message that it begins with and without the folders that lead to the program. */
export function framesOf(stack: string, message: string): readonly string[] {
  const at = message === '' ? -1 : stack.indexOf(message);
  const lines = (at === -1 ? stack : stack.slice(at + message.length)).slice(0, 16_384).split('\n');
  const frames: string[] = [];
  for (const line of lines) {
    const parts = FRAME.exec(line);
    const [, name, place = 'node:internal'] = parts ?? [];
    if (place.startsWith('node:internal')) continue;
    frames.push(cut(name === undefined ? placeOf(place) : `${cut(scrub(name), 80)} (${placeOf(place)})`, 240));
    if (frames.length === FRAMES) break;
  }
  return frames;
}

/** `libs/x/src/y.ts:3:9`, `node_modules/@scope/name/z.js:3:9`, `node:net:3:9`. A segment that has the form of an address is taken out. */
function placeOf(place: string): string {
  if (place.startsWith('node:')) return place;
  const path = place.replace(/^file:\/\//, '').replaceAll('\\', '/');
  const kept =
    /(?:^|\/)((?:node_modules|libs|apps|test|tools|dist)\/.*)$/.exec(path)?.[1] ?? path.split('/').slice(-2).join('/');
  return kept
    .split('/')
    .map((segment) => (segment.startsWith('@') ? segment : scrub(segment)))
    .join('/');
}
