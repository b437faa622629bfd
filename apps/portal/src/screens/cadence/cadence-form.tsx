import { Plus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Fault } from '../../api/use-draft.ts';
import { FormFaults } from '../../faults/form-faults.tsx';
import { FaultGroup } from '../../ui/held-fault.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import {
  DAYS,
  DAY_WORDS,
  delayKind,
  delayOf,
  delayText,
  periodOptions,
  windowKind,
  windowOf,
  type Cadence,
  type DelayKind,
  type Digest,
  type Limit,
  type QuietHours,
  type WindowKind,
} from './cadence-values.ts';
import styles from './cadence.module.css';

type PartProps = {
  readonly cadence: Cadence;
  readonly onChange: (next: Cadence) => void;
  readonly isOff: boolean;
  readonly faultsAt: (path: string) => readonly Fault[];
};

/** How often and when people are told. Of a workspace: its limits and quiet hours, which have neither delay nor digest. */
export function CadenceForm(props: PartProps & { readonly of: 'notification' | 'workspace' }): ReactNode {
  return (
    <div className={cls(styles.form)}>
      <FaultGroup>
        <Limits {...props} />
      </FaultGroup>
      <FaultGroup>
        <Quiet {...props} />
      </FaultGroup>
      {props.of === 'notification' && (
        <>
          <FaultGroup>
            <DigestPart {...props} />
          </FaultGroup>
          <FaultGroup>
            <Delay {...props} />
          </FaultGroup>
        </>
      )}
    </div>
  );
}

const THEN = [
  { id: 'drop', name: 'drop the rest' },
  { id: 'hold', name: 'hold the rest back' },
  { id: 'digest', name: 'put the rest in a digest' },
] as const;

function Limits({ cadence, onChange, isOff, faultsAt }: PartProps): ReactNode {
  const limits = cadence.limits ?? [];
  const write = (next: readonly Limit[]): void => onChange({ ...cadence, limits: [...next] });
  const put = (index: number, limit: Limit): void => write(limits.map((one, at) => (at === index ? limit : one)));
  return (
    <fieldset className={cls(styles.group)}>
      <legend>Limits</legend>
      {limits.length === 0 && <p className={cls(styles.quiet)}>No limits yet.</p>}
      {limits.map((limit, index) => (
        <div key={index} role="group" aria-label={`Limit ${index + 1}`} className={cls(styles.group)}>
          <div className={cls(styles.line)}>
            <div className={cls(styles.short)}>
              <Field
                label="At most"
                inputMode="numeric"
                isDisabled={isOff}
                value={String(limit.max)}
                onChange={(text) => put(index, { ...limit, max: (/^\d+$/.test(text) ? Number(text) : text) as number })}
              />
            </div>
            <div className={cls(styles.wide)}>
              <Select
                label="to one person in a"
                options={periodOptions(limit.per)}
                chosen={limit.per}
                isDisabled={isOff}
                onChoose={(per) => put(index, { ...limit, per })}
              />
            </div>
            <div className={cls(styles.wide)}>
              <Select
                label="then"
                options={THEN}
                chosen={limit.then}
                isDisabled={isOff}
                onChoose={(then) => put(index, { ...limit, then })}
              />
            </div>
            <Button
              kind="quiet"
              isIcon
              isDisabled={isOff}
              aria-label={`Remove limit ${index + 1}`}
              onPress={() => write(limits.filter((_, at) => at !== index))}
            >
              <X size={16} aria-hidden />
            </Button>
          </div>
          <FormFaults faults={faultsAt(`cadence.limits.${index}`)} />
          <FormFaults faults={faultsAt(`cadence.limits[${index}]`)} />
        </div>
      ))}
      <div>
        <Button isDisabled={isOff} onPress={() => write([...limits, { max: 3, per: '1d', then: 'drop' }])}>
          <Plus size={16} aria-hidden />
          Add a limit
        </Button>
      </div>
    </fieldset>
  );
}

function Quiet({ cadence, onChange, isOff, faultsAt }: PartProps): ReactNode {
  const quiet = cadence.quiet_hours;
  const write = (next: QuietHours | undefined): void => {
    const { quiet_hours: _, ...rest } = cadence;
    onChange(next === undefined ? rest : { ...rest, quiet_hours: next });
  };
  const days = quiet?.days ?? DAYS;
  return (
    <fieldset className={cls(styles.group)}>
      <legend>Quiet hours</legend>
      <Checkbox
        isOn={quiet !== undefined}
        isDisabled={isOff}
        onChange={(isOn) => write(isOn ? { from: '21:00', to: '08:00', then: 'hold' } : undefined)}
      >
        Use quiet hours
      </Checkbox>
      {quiet && (
        <>
          <div className={cls(styles.line)}>
            {(['from', 'to'] as const).map((key) => (
              <div key={key} className={cls(styles.short)}>
                <Field
                  label={key === 'from' ? 'From' : 'To'}
                  placeholder="21:00"
                  isDisabled={isOff}
                  value={quiet[key]}
                  onChange={(text) => write({ ...quiet, [key]: text })}
                />
              </div>
            ))}
            <div className={cls(styles.wide)}>
              <Select
                label="in the person’s zone, then"
                options={[
                  { id: 'hold', name: 'hold until they end' },
                  { id: 'drop', name: 'drop' },
                ]}
                chosen={quiet.then ?? 'hold'}
                isDisabled={isOff}
                onChoose={(then) => write({ ...quiet, then })}
              />
            </div>
          </div>
          <div role="group" aria-label="Days on which quiet hours begin" className={cls(styles.days7)}>
            {DAYS.map((day) => (
              <Checkbox
                key={day}
                isOn={days.includes(day)}
                isDisabled={isOff}
                onChange={(isOn) => {
                  const next = DAYS.filter((one) => (one === day ? isOn : days.includes(one)));
                  const { days: _, ...rest } = quiet;
                  write(next.length === DAYS.length ? rest : { ...rest, days: next });
                }}
              >
                {DAY_WORDS[day]}
              </Checkbox>
            ))}
          </div>
        </>
      )}
      <FormFaults faults={faultsAt('cadence.quiet_hours')} />
    </fieldset>
  );
}

function DigestPart({ cadence, onChange, isOff, faultsAt }: PartProps): ReactNode {
  const { digest } = cadence;
  const write = (next: Digest | undefined): void => {
    const { digest: _, ...rest } = cadence;
    onChange(next === undefined ? rest : { ...rest, digest: next });
  };
  const kind = windowKind(digest?.window);
  return (
    <fieldset className={cls(styles.group)}>
      <legend>Digest</legend>
      <div className={cls(styles.line)}>
        <div className={cls(styles.wide)}>
          <Select
            label="Combine messages"
            options={[
              { id: 'off', name: 'never' },
              { id: 'always', name: 'always' },
              { id: 'over_limit', name: 'when a limit is reached' },
            ]}
            chosen={digest ? (digest.when ?? 'always') : 'off'}
            isDisabled={isOff}
            onChoose={(when) =>
              write(when === 'off' ? undefined : { ...(digest ?? ({ window: windowOf('fixed') } as Digest)), when })
            }
          />
        </div>
        {digest && (
          <div className={cls(styles.wide)}>
            <Select<WindowKind>
              label="Time of the digest"
              options={[
                { id: 'fixed', name: 'a fixed time after its first message' },
                { id: 'sliding', name: 'after a pause' },
                { id: 'at', name: 'at fixed times of the day' },
              ]}
              chosen={kind}
              isDisabled={isOff}
              onChoose={(next) => write({ ...digest, window: windowOf(next) })}
            />
          </div>
        )}
        {digest && <WindowFields digest={digest} isOff={isOff} onChange={write} />}
      </div>
      <FormFaults faults={faultsAt('cadence.digest')} />
    </fieldset>
  );
}

function WindowFields({
  digest,
  isOff,
  onChange,
}: {
  readonly digest: Digest;
  readonly isOff: boolean;
  readonly onChange: (next: Digest) => void;
}): ReactNode {
  const { window } = digest;
  const fields: readonly (readonly [label: string, value: string, write: (text: string) => Digest['window']])[] =
    'fixed' in window
      ? [['After', window.fixed, (fixed) => ({ fixed })]]
      : 'sliding' in window
        ? [
            ['Pause of', window.sliding, (sliding) => ({ ...window, sliding })],
            ['At most after', window.at_most, (latest) => ({ ...window, at_most: latest })],
          ]
        : [
            [
              'Times',
              window.at.join(' '),
              (text) => ({ ...window, at: text.split(/[\s,]+/).filter((one) => one !== '') }),
            ],
          ];
  return fields.map(([label, value, write]) => (
    <div key={label} className={cls(styles.short)}>
      <Field
        label={label}
        isDisabled={isOff}
        value={value}
        onChange={(text) => onChange({ ...digest, window: write(text) })}
      />
    </div>
  ));
}

function Delay({ cadence, onChange, isOff, faultsAt }: PartProps): ReactNode {
  const kind = delayKind(cadence.delay);
  const write = (next: Cadence['delay']): void => {
    const { delay: _, ...rest } = cadence;
    onChange(next === undefined ? rest : { ...rest, delay: next });
  };
  return (
    <fieldset className={cls(styles.group)}>
      <legend>Delay</legend>
      <div className={cls(styles.line)}>
        <div className={cls(styles.wide)}>
          <Select<DelayKind>
            label="Time of the message"
            options={[
              { id: 'none', name: 'at once' },
              { id: 'span', name: 'after a while' },
              { id: 'local_time', name: 'at a time of the person’s day' },
              { id: 'until', name: 'at a time that the event names' },
            ]}
            chosen={kind}
            isDisabled={isOff}
            onChoose={(next) => write(delayOf(next))}
          />
        </div>
        {kind !== 'none' && (
          <div className={cls(styles.wide)}>
            <Field
              label={kind === 'span' ? 'After' : kind === 'until' ? 'Expression' : 'Time'}
              isMono={kind === 'until'}
              isDisabled={isOff}
              value={delayText(cadence.delay)}
              onChange={(text) => write(delayOf(kind, text))}
            />
          </div>
        )}
      </div>
      <FormFaults faults={faultsAt('cadence.delay')} />
    </fieldset>
  );
}
