import { useQuery } from '@tanstack/react-query';
import { useId, useMemo, type ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { CodeField } from '../../ui/code-field.tsx';
import { Card, Quiet } from '../../ui/page.tsx';
import { NativeSelect } from '../../ui/native-select.tsx';
import { Field } from '../../ui/field.tsx';
import { Segments } from '../../ui/segments.tsx';
import { addressWarning } from './address-warning.ts';
import { completeExpression, fieldChoices, type SeenField } from './completion.ts';
import { integrationsQuery } from '../integrations/queries.ts';
import { usualAddresses } from '../notifications/usual-addresses.ts';
import { textOf, type Rule, type RuleProps } from './rule-props.ts';
import { useSeenFields } from './use-seen-fields.ts';
import styles from './rule.module.css';
import { isPartner } from '../integrations/integration-roles.ts';

type Recipients = Rule['recipients'];
type OfEvent = Extract<Recipients, { from: 'event' }>;
type OfLookup = Extract<Recipients, { from: 'lookup' }>;

const SOURCES = [
  { id: 'event', name: 'From the event' },
  { id: 'lookup', name: 'Ask a partner' },
] as const;
const ADDRESSES = [
  ['email', 'Email address', 'email'],
  ['sms', 'Phone number', 'phone'],
  ['push', 'Device token', 'token'],
] as const;

/** The same without a key where its text is empty. */
function withText<Value extends object>(value: Value, key: keyof Value, text: string): Value {
  const { [key]: _before, ...rest } = value;
  return (text.trim() === '' ? rest : { ...rest, [key]: text }) as Value;
}

/** Edits the recipients of a rule: who, how often, and under which condition. */
export function Recipients({ draft, name, rule, stream, change }: RuleProps): ReactNode {
  const { fields: seen } = useSeenFields({ draft, name, rule, stream });
  const recipients = rule.recipients ?? { from: 'event', to: {} };
  const isLookup = recipients.from === 'lookup';
  const hasEach = recipients.from === 'event' && textOf(recipients.for_each) !== '';
  const complete = useMemo(
    () =>
      completeExpression(seen, [
        'event',
        'event_id',
        'time',
        ...(hasEach ? ['item'] : []),
        ...(isLookup ? ['variables'] : []),
      ]),
    [seen, hasEach, isLookup],
  );
  const write = (next: Recipients): void => change((before) => ({ ...before, recipients: next }));
  const expression = (
    label: string,
    path: string,
    value: string | number | boolean | undefined,
    onWrite: (text: string) => void,
    more: { readonly note?: ReactNode; readonly placeholder?: string } = {},
  ): ReactNode => (
    <>
      <CodeField
        label={label}
        language="cel"
        isSingleLine
        value={textOf(value)}
        onChange={onWrite}
        complete={complete}
        faults={draft
          .faultsAt(`rules.${name}.recipients.${path}`)
          .map(({ line, column, message, fix }) => ({ line: line ?? 1, column: column ?? 1, message, fix }))}
        {...more}
      />
      <FieldPicker what={label} path={path} seen={seen} onChoose={onWrite} />
    </>
  );
  return (
    <>
      <Card
        title="Recipients"
        beside={
          <Segments
            label="Source of the people"
            options={SOURCES}
            chosen={recipients.from}
            onChoose={(from) => {
              if (from === recipients.from) return;
              const kept = { unique_id: recipients.unique_id ?? 'event_id' };
              write(
                from === 'event'
                  ? { from, to: usualAddresses(draft.body.channels), ...kept }
                  : { from, integration: '', user_ids: 'event.user_id', ...kept },
              );
            }}
          />
        }
      >
        {recipients.from === 'event' ? (
          <FromEvent recipients={recipients} draft={draft} seen={seen} expression={expression} onWrite={write} />
        ) : (
          <FromPartner
            workspace={draft.workspace}
            recipients={recipients}
            expression={expression}
            onWrite={write}
            isCohort={rule.cohort !== undefined}
          />
        )}
      </Card>
      <Card title="Send once per">
        <Once recipients={recipients} expression={expression} onWrite={write} />
      </Card>
      <Card title="Skip people (optional)">
        {expression(
          'Skip people unless',
          'where',
          recipients.where,
          (text) => write(withText(recipients, 'where', text)),
          {
            note: isLookup
              ? 'Can use variables (the answer of the partner) and event. If empty, everybody gets the message.'
              : 'Can use event, and item for a list of people. If empty, everybody gets the message.',
          },
        )}
      </Card>
    </>
  );
}

/** Fields that events of the stream had, for who does not want to type one. */
function FieldPicker({
  what,
  path,
  seen,
  onChoose,
}: {
  readonly what: string;
  readonly path: string;
  readonly seen: readonly SeenField[];
  readonly onChoose: (text: string) => void;
}): ReactNode {
  const fields = fieldChoices(path, seen);
  if (fields.length === 0) return null;
  return (
    <NativeSelect
      label={`Field for ${what}`}
      hidesLabel
      options={[{ id: '', name: 'Choose a field' }, ...fields.map((id) => ({ id, name: id }))]}
      value=""
      onChange={(field) => field !== '' && onChoose(field)}
    />
  );
}

type Draw = (
  label: string,
  path: string,
  value: string | number | boolean | undefined,
  onWrite: (text: string) => void,
  more?: { readonly note?: ReactNode; readonly placeholder?: string },
) => ReactNode;

function FromEvent({
  recipients,
  draft,
  seen,
  expression,
  onWrite,
}: {
  readonly recipients: OfEvent;
  readonly draft: RuleProps['draft'];
  readonly seen: readonly SeenField[];
  readonly expression: Draw;
  readonly onWrite: (next: Recipients) => void;
}): ReactNode {
  const { channels } = draft.body;
  const used = ADDRESSES.filter(
    ([channel, , key]) => channels?.[channel] !== undefined || recipients.to?.[key] !== undefined,
  );
  return (
    <>
      {used.map(([channel, label, key]) => (
        <div key={key}>
          {expression(
            label,
            `to.${key}`,
            recipients.to?.[key],
            (text) => onWrite({ ...recipients, to: withText(recipients.to ?? {}, key, text) }),
            {
              ...(channels?.[channel] === undefined && {
                note: 'Not used, because the notification does not have this channel.',
              }),
            },
          )}
          <AddressWarning words={addressWarning(key, textOf(recipients.to?.[key]), seen)} />
        </div>
      ))}
      {used.length === 0 && <p>The notification has no channel yet. Choose one under Channels first.</p>}
      {expression(
        'List of people',
        'for_each',
        recipients.for_each,
        (text) => onWrite(withText(recipients, 'for_each', text)),
        {
          note: 'For several people in one event: the list, such as event.watchers. Its entries are called item above. If empty, the event is about one person.',
        },
      )}
      {expression(
        'Id of the person',
        'person',
        recipients.person,
        (text) => onWrite(withText(recipients, 'person', text)),
        {
          note: 'For people with several addresses: limits and opt-outs apply to this id. If empty, they apply to the address.',
        },
      )}
      {Object.keys(recipients.variables ?? {}).length > 0 && (
        <Quiet>Variables for the templates: {Object.keys(recipients.variables ?? {}).join(', ')}</Quiet>
      )}
    </>
  );
}

function FromPartner({
  workspace,
  recipients,
  expression,
  onWrite,
  isCohort,
}: {
  readonly workspace: string;
  readonly recipients: OfLookup;
  readonly expression: Draw;
  readonly onWrite: (next: Recipients) => void;
  readonly isCohort: boolean;
}): ReactNode {
  const listId = useId();
  const { data } = useQuery(integrationsQuery(workspace));
  const partners = (data?.items ?? []).filter(({ body }) => isPartner(body));
  return (
    <>
      <datalist id={listId}>
        {partners.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Field
        label="Partner"
        isMono
        list={listId}
        autoComplete="off"
        note="A lookup integration, which answers the user ids with addresses."
        value={recipients.integration ?? ''}
        onChange={(integration) => onWrite({ ...recipients, integration })}
      />
      {!isCohort &&
        expression(
          'User ids',
          'user_ids',
          recipients.user_ids,
          (text) => onWrite(withText(recipients, 'user_ids', text)),
          {
            note: 'A text, a number, or a list of these.',
          },
        )}
    </>
  );
}

const AddressWarning = ({ words }: { readonly words: string | null }): ReactNode =>
  words !== null && (
    <p role="status" className={cls(styles.warnings)}>
      {words}
    </p>
  );

const ONCE = [
  { id: 'event', name: 'event' },
  { id: 'value', name: 'value, such as the order' },
  { id: 'ever', name: 'person, ever' },
] as const;

function Once({
  recipients,
  expression,
  onWrite,
}: {
  readonly recipients: Recipients;
  readonly expression: Draw;
  readonly onWrite: (next: Recipients) => void;
}): ReactNode {
  const text = textOf(recipients.unique_id);
  const kind = recipients.unique_id === undefined ? 'ever' : text === 'event_id' ? 'event' : 'value';
  return (
    <>
      <NativeSelect
        label="One message for each item of"
        options={ONCE}
        value={kind}
        onChange={(next) => {
          const { unique_id: _before, ...rest } = recipients;
          if (next === 'ever') onWrite(rest);
          else onWrite({ ...rest, unique_id: next === 'event' ? 'event_id' : 'event.id' });
        }}
      />
      {kind === 'value' &&
        expression('Value', 'unique_id', recipients.unique_id, (next) => onWrite({ ...recipients, unique_id: next }), {
          note: 'Such as event.order_id: one message for each order and person, also if the event comes again.',
        })}
    </>
  );
}
