import { isUtf8 } from 'node:buffer';
import { countJsonValues, JSON_VALUE_BYTES, readJson, type JsonFaultCode } from '@carillon/domain/events';
import { MAX_ANSWER_VALUES } from '@carillon/domain/lookups';
import type { Duration, Instant } from '@carillon/kernel';
import type { OutboundAnswer, PartnerAnswer, PartnerCall } from '@carillon/ports';
import { readItemsApart } from './items.ts';

/** As deep as an event may be. */
const LIMITS = { depth: 32, keys: MAX_ANSWER_VALUES };

/**
 * Classifies a whole response of a partner, by its status first. `room` is called with the memory that parsing will
 * take.
 */
export function readAnswer(
  { status, headers, body }: OutboundAnswer,
  now: Instant,
  room: PartnerCall['room'] = () => true,
): PartnerAnswer {
  if (status >= 200 && status < 300) return readItems(status, headers['content-type'], body, room);
  if (status === 401 || status === 403) {
    return {
      kind: 'unauthorized',
      status,
      detail: `the partner answered ${status}: it does not accept the key of the integration`,
    };
  }
  if (status === 429 || status === 503) {
    const retryAfter = readRetryAfter(headers['retry-after'], now);
    const again = retryAfter === null ? '' : `; come again in ${Math.ceil(retryAfter / 1000)} s`;
    return { kind: 'throttled', status, retryAfter, detail: `the partner answered ${status}${again}` };
  }
  if (status >= 500) return { kind: 'unavailable', status, detail: `the partner answered ${status}` };
  const redirect = status >= 300 && status < 400 ? ': redirects are not followed, name the last address' : '';
  return { kind: 'refused', status, detail: `the partner answered ${status}${redirect}` };
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

const WORDS: Readonly<Record<JsonFaultCode, string>> = {
  invalid_json: 'is not valid JSON',
  not_an_object: 'is not an array',
  duplicate_key: 'names a field twice',
  number_out_of_range: 'holds a number beyond 64 bits',
  too_deep: `is nested deeper than ${LIMITS.depth}`,
  too_many_keys: `has more than ${MAX_ANSWER_VALUES} fields`,
  forbidden_key: 'has a field named __proto__ or constructor',
};

function readItems(
  status: number,
  contentType: string | undefined,
  received: Uint8Array,
  room: NonNullable<PartnerCall['room']>,
): PartnerAnswer {
  const invalid = (detail: string): PartnerAnswer => ({ kind: 'invalid', status, detail });
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  // A response without content type may be JSON. Another type is usually the error page of a proxy.
  if (type !== '' && type !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(type)) {
    return invalid(`the answer says that it is ${type.slice(0, 60)}, not application/json`);
  }
  // Some frameworks write a byte order mark before their JSON. It says nothing (RFC 8259, section 8.1).
  const body = BYTE_ORDER_MARK.every((byte, at) => byte === received[at])
    ? received.subarray(BYTE_ORDER_MARK.length)
    : received;
  if (!isUtf8(body)) {
    const charset = /charset\s*=\s*"?([\w.-]{1,40})/i.exec(contentType ?? '')?.[1];
    const said = charset === undefined ? '' : `; its content type says ${charset.toLowerCase()}`;
    return invalid(
      `the answer is not UTF-8${said}. JSON is UTF-8: where the text is Latin-1 (ISO 8859-1), encode it anew`,
    );
  }
  // Before it is read: a megabyte of tiny values would hold up everything else in the process.
  const values = countJsonValues(body);
  if (values > MAX_ANSWER_VALUES)
    return invalid(`the answer has more than ${MAX_ANSWER_VALUES} fields and items of lists`);
  if (!room(values * JSON_VALUE_BYTES)) {
    return { kind: 'no_room', status: null, detail: 'too many response bytes of this service are being read at once' };
  }
  const read = readJson(body, LIMITS);
  if (!read.ok) {
    const apart = readItemsApart(body, read.error, LIMITS);
    if (apart !== null) {
      const unread = new Map([...apart.unread].map(([index, fault]) => [index, `it ${WORDS[fault]}`]));
      return { kind: 'answered', status, items: apart.items, unread };
    }
    const { code, line, column } = read.error;
    return invalid(`the answer ${WORDS[code]} (line ${line}, column ${column})`);
  }
  if (!Array.isArray(read.value)) return invalid('the answer is not an array');
  return { kind: 'answered', status, items: read.value as Extract<PartnerAnswer, { kind: 'answered' }>['items'] };
}

/** Seconds, or a date (RFC 9110); null for what is neither. */
export function readRetryAfter(text: string | undefined, now: Instant): Duration | null {
  if (text === undefined) return null;
  if (/^\s*\d{1,10}\s*$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
