import { useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { FormFaults } from '../../faults/form-faults.tsx';
import { faultText } from '../../faults/fault-text.ts';
import { FaultGroup, FaultScope } from '../../ui/held-fault.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Field } from '../../ui/field.tsx';
import { Actions, Card } from '../../ui/page.tsx';
import { Id } from '../../ui/text.tsx';
import { SecurityChoice } from '../notifications/security-choice.tsx';
import { FromSettings } from './from-settings.tsx';
import type { StreamDraft } from './stream-draft.ts';
import { textAt, withText, type Part } from '../setup/parts.ts';
import styles from './streams.module.css';

const ONCE: readonly Part[] = [
  {
    path: ['key'],
    kind: 'text',
    label: 'Key',
    placeholder: 'event.order_id',
    note: 'Field with the id that an event is about. Events with the same key are evaluated in order. An event without it is refused.',
  },
  {
    path: ['time'],
    kind: 'text',
    label: 'Time of the event',
    placeholder: 'event.updated_at',
    note: 'Field with the time of the event. If empty, the time of arrival is used.',
  },
];
const GRACE: Part = {
  path: ['grace'],
  kind: 'text',
  label: 'Grace for late events',
  placeholder: '10s',
  note: 'Rules that wait decide this long after their deadline, so that events that come out of order still count.',
};
const ORIGINS: Part = {
  path: ['cors_origins'],
  kind: 'list',
  label: 'Websites that may send events',
  placeholder: 'https://app.example.com',
  note: 'Origins, one per line. If empty, no website may send from a browser.',
};
const number = (path: readonly string[], label: string, placeholder: string): Part => ({
  path,
  kind: 'number',
  label,
  placeholder,
});
const RATES: readonly (readonly [legend: string, parts: readonly Part[]])[] = [
  [
    'Limit for all senders together',
    [
      number(['rate', 'per_second'], 'Events a second', 'no limit'),
      number(['rate', 'burst'], 'Burst', 'same as events a second'),
    ],
  ],
  [
    'Limit for each key or user',
    [
      number(['rate_per_credential', 'per_second'], 'Events a second', 'no limit'),
      number(['rate_per_credential', 'burst'], 'Burst', 'same as events a second'),
    ],
  ],
];

/** What of a shared stream can be changed, as a draft. */
export function StreamSettings({
  draft,
  subscribedRules,
}: {
  readonly draft: StreamDraft;
  /** Rules that hear it: they have to go first, or with it. */
  readonly subscribedRules: readonly string[];
}): ReactNode {
  const { workspace, body, resource } = draft;
  const off = useMay('configure', workspace);
  if (body === null) return null;
  const isFixed = resource !== null;
  const { from } = body;
  const signature = body.security?.webhook_secret;
  const shown = ['from', 'security', 'key', 'time', 'grace', 'cors_origins', 'rate', 'rate_per_credential'];
  const others = draft.faults.filter(({ path }) => !shown.some((one) => path === one || path.startsWith(`${one}.`)));
  return (
    <FaultScope draft={draft}>
      {signature !== undefined && (
        <Card title="Who may send">
          <p>
            A sender that signs each request with the secret <Id>{signature.secret}</Id>, such as Debezium Server.
          </p>
        </Card>
      )}
      {from === undefined && signature === undefined && (
        <Card title="Who may send">
          <SecurityChoice
            workspace={workspace}
            security={body.security ?? {}}
            faults={draft.faultsAt('security')}
            isDraft={draft.hasDraft}
            onChange={(security) => {
              draft.change((before) => ({ ...before, security }));
              void draft.saveNow();
            }}
          />
        </Card>
      )}
      <Card title="Settings">
        <div className={cls(styles.form)}>
          {from !== undefined && <FromSettings draft={draft} from={from} isOff={off !== null} />}
          {ONCE.filter(({ path }) => from === undefined || path[0] === 'time').map((part) => (
            <PartField
              key={part.label}
              part={isFixed ? { ...part, note: `${part.note} It cannot be changed any more.` } : part}
              draft={draft}
              isFixed={isFixed || off !== null}
            />
          ))}
          {body.time !== undefined && <PartField part={GRACE} draft={draft} isFixed={off !== null} />}
          {from === undefined && <Origins draft={draft} isFixed={off !== null} />}
          {(from === undefined ? RATES : []).map(([legend, parts]) => (
            <FaultGroup key={legend}>
              <fieldset className={cls(styles.set)}>
                <legend>{legend}</legend>
                <div className={cls(styles.pair)}>
                  {parts.map((part) => (
                    <PartField key={part.path.join('.')} part={part} draft={draft} isFixed={off !== null} />
                  ))}
                </div>
                <Wrong draft={draft} path={parts[0]?.path[0] ?? ''} />
              </fieldset>
            </FaultGroup>
          ))}
          <FormFaults faults={others} />
          {off !== null && <p className={cls(styles.note)}>{off}</p>}
        </div>
      </Card>
      {isFixed && (
        <Card title="Remove">
          <p>
            {subscribedRules.length === 0
              ? `${from === undefined ? 'Its senders are refused' : 'Carillon stops reading it'} when you publish the draft. Its past events stay until retention removes them.`
              : `${subscribedRules.join(', ')} ${subscribedRules.length === 1 ? 'uses' : 'use'} it: give ${
                  subscribedRules.length === 1 ? 'that rule' : 'those rules'
                } another stream first.`}
          </p>
          <Actions>
            <Button kind="danger" off={off} isDisabled={subscribedRules.length > 0} onPress={() => draft.change(null)}>
              Remove stream
            </Button>
          </Actions>
        </Card>
      )}
    </FaultScope>
  );
}

/** A mistake of a group as a whole: that one of both numbers is missing. */
function Wrong({ draft, path }: { readonly draft: StreamDraft; readonly path: string }): ReactNode {
  const wrong = draft.faults.find((fault) => fault.path === path);
  return wrong ? <FormFaults faults={[wrong]} /> : null;
}

type FieldProps = { readonly draft: StreamDraft; readonly isFixed: boolean };

function PartField({ part, draft, isFixed }: FieldProps & { readonly part: Part }): ReactNode {
  const [wrong] = draft.faultsAt(part.path.join('.'));
  return (
    <Field
      label={part.label}
      note={part.note}
      isMono={part.kind === 'text'}
      isDisabled={isFixed}
      fault={wrong ? faultText(wrong) : null}
      value={textAt(draft.body, part)}
      onChange={(text) => draft.change((before) => withText(before, part, text))}
      {...(part.kind === 'number' && { inputMode: 'numeric' as const })}
      {...(part.placeholder !== undefined && { placeholder: part.placeholder })}
    />
  );
}

/** As they are typed: an empty last line is the beginning of the next one, and none of the body. */
function Origins({ draft, isFixed }: FieldProps): ReactNode {
  const kept = textAt(draft.body, ORIGINS);
  const [typed, setTyped] = useState(kept);
  const isSame = textAt(withText({}, ORIGINS, typed), ORIGINS) === kept;
  const [wrong] = draft.faultsAt('cors_origins');
  return (
    <Field
      label={ORIGINS.label}
      note={ORIGINS.note}
      isLong
      isDisabled={isFixed}
      placeholder={ORIGINS.placeholder ?? ''}
      fault={wrong ? faultText(wrong) : null}
      value={isSame ? typed : kept}
      onChange={(text) => {
        setTyped(text);
        draft.change((before) => withText(before, ORIGINS, text));
      }}
    />
  );
}
