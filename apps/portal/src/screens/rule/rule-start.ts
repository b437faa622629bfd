import type { Rule } from './rule-props.ts';

export type Cohort = NonNullable<Rule['cohort']>;

/** The rule when it hears events of a shared stream, or of its own where `stream` is empty. Events need a condition of their own. */
export function startedByEvents(rule: Rule, stream: string): Rule {
  const { stream: _stream, path, cohort, ...rest } = rule;
  const { recipients } = rest;
  return {
    ...rest,
    ...(stream === '' ? path !== undefined && { path } : { stream }),
    ...(cohort !== undefined &&
      recipients.from === 'lookup' && { recipients: { ...recipients, user_ids: 'event.user_id' } }),
  };
}

/**
 * The rule when a cohort starts it. Its condition goes, because it was about events of a stream, and a partner says who the member is.
 * `partner` is asked if none was chosen before.
 */
export function startedByCohort(rule: Rule, cohort: Cohort, partner: string): Rule {
  const { stream: _stream, path: _path, when, cohort: before, recipients, ...rest } = rule;
  const { unique_id: once } = recipients;
  const asked = recipients.from === 'lookup' ? recipients : { from: 'lookup' as const, integration: partner };
  const { user_ids: _ids, ...lookup } = { user_ids: undefined, ...asked };
  return {
    ...rest,
    cohort,
    ...(before !== undefined && when !== undefined && { when }),
    recipients: { ...lookup, unique_id: before === undefined ? 'event_id' : (once ?? 'event_id') },
  };
}
