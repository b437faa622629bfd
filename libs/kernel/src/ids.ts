declare const brand: unique symbol;
/** A string that only the code that makes such ids may call by this name. */
export type Branded<Name extends string> = string & { readonly [brand]: Name };

export type EventId = Branded<'EventId'>;
export type TriggerId = Branded<'TriggerId'>;
export type IntentId = Branded<'IntentId'>;
export type DeliveryId = Branded<'DeliveryId'>;
export type AttemptId = Branded<'AttemptId'>;
export type JobId = Branded<'JobId'>;
export type RunId = Branded<'RunId'>;
/** Identifies one instance of the log. Creating the topics creates a new id (architecture section 4). */
export type LogId = Branded<'LogId'>;

/** Prefixes of the ids that people see: a prefix and 26 characters of Crockford base32, 128 bits (interfaces, head). */
export const ID_PREFIXES = {
  event: 'evt_',
  trigger: 'trg_',
  intent: 'int_',
  delivery: 'dlv_',
  attempt: 'att_',
  notification: 'ntf_',
  rule: 'rul_',
  request: 'req_',
  log: 'log_',
  outcome: 'out_',
  deadLetter: 'ded_',
  state: 'sta_',
  receipt: 'rct_',
  consent: 'cns_',
  person: 'per_',
  session: 'ses_',
  invitation: 'inv_',
  token: 'tok_',
  audit: 'aud_',
  job: 'job_',
  run: 'run_',
  erasure: 'era_',
} as const;
export type IdKind = keyof typeof ID_PREFIXES;

/** Whether `text` has the shape of an id of this kind; says nothing about whether it exists. */
export const isId = (kind: IdKind, text: string): boolean =>
  text.startsWith(ID_PREFIXES[kind]) && /^[0-9A-HJKMNP-TV-Z]{26}$/.test(text.slice(ID_PREFIXES[kind].length));

/**
 * Derives an id from parts: equal parts give the same id. Pure code takes this function instead of the whole ids port.
 */
export type DeriveId = (kind: IdKind, ...parts: readonly string[]) => string;
