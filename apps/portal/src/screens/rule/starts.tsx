import { useQuery } from '@tanstack/react-query';
import { useId, type ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { Field } from '../../ui/field.tsx';
import { NativeSelect } from '../../ui/native-select.tsx';
import { draftsQuery } from '../drafts/queries.ts';
import { cohortsQuery, integrationsQuery } from '../integrations/queries.ts';
import { streamsQuery } from '../streams/queries.ts';
import { ChangesChoice } from './changes-choice.tsx';
import { startedByCohort, startedByEvents } from './rule-start.ts';
import type { RuleProps } from './rule-props.ts';
import styles from './rule.module.css';
import { hasCohorts, isPartner } from '../integrations/integration-roles.ts';

const STARTS = [
  { id: 'event', name: 'an event on' },
  { id: 'entered', name: 'somebody enters' },
  { id: 'left', name: 'somebody leaves' },
] as const;

/** Chooses the source of a rule: a stream, or a cohort of an analytics platform. */
export function Starts({
  draft,
  name,
  rule,
  hasChanges = false,
  hasSnapshots = false,
  change,
}: Omit<RuleProps, 'stream'> & {
  /** The stream of the rule has changes. */
  readonly hasChanges?: boolean;
  /** Debezium may send rows that were there already. */
  readonly hasSnapshots?: boolean;
}): ReactNode {
  const { workspace } = draft;
  const integrations = useQuery(integrationsQuery(workspace)).data?.items ?? [];
  const platforms = integrations.filter(({ body }) => hasCohorts(body)).map((platform) => platform.name);
  const partner = integrations.find(({ body }) => isPartner(body))?.name ?? '';
  const { cohort } = rule;
  return (
    <>
      <div className={cls(styles.row, styles.starts)}>
        <NativeSelect
          label="Starts with"
          options={STARTS}
          value={cohort === undefined ? 'event' : cohort.on}
          onChange={(next) =>
            change((before) =>
              next === 'event'
                ? startedByEvents(before, '')
                : startedByCohort(
                    before,
                    {
                      ...(before.cohort ?? { integration: platforms[0] ?? '', id: '', first_sync: 'silent' }),
                      on: next,
                    },
                    partner,
                  ),
            )
          }
        />
        {cohort === undefined ? (
          <StreamChoice workspace={workspace} rule={rule} change={change} />
        ) : (
          <CohortChoice
            workspace={workspace}
            cohort={cohort}
            platforms={platforms}
            onChange={(next) => change((before) => startedByCohort(before, next, partner))}
          />
        )}
      </div>
      {(hasChanges || rule.changes !== undefined) && (
        <ChangesChoice draft={draft} name={name} rule={rule} hasSnapshots={hasSnapshots} change={change} />
      )}
    </>
  );
}

type OfWorkspace = { readonly workspace: string };

const named = (names: readonly string[]) => [...new Set(names)].map((id) => ({ id, name: id }));

function StreamChoice({ workspace, rule, change }: OfWorkspace & Pick<RuleProps, 'rule' | 'change'>): ReactNode {
  const streams = useQuery(streamsQuery(workspace)).data?.items ?? [];
  const drafts = useQuery(draftsQuery(workspace)).data?.items ?? [];
  const names = [
    ...streams.map(({ name }) => name),
    ...drafts.filter(({ kind, action }) => kind === 'stream' && action !== 'delete').map(({ name }) => name),
    ...(rule.stream === undefined ? [] : [rule.stream]),
  ];
  return (
    <NativeSelect
      label="Stream"
      options={[{ id: '', name: 'a stream of its own' }, ...named(names)]}
      value={rule.stream ?? ''}
      onChange={(stream) => change((before) => startedByEvents(before, stream))}
    />
  );
}

function CohortChoice({
  workspace,
  cohort,
  platforms,
  onChange,
}: OfWorkspace & {
  readonly cohort: NonNullable<RuleProps['rule']['cohort']>;
  readonly platforms: readonly string[];
  readonly onChange: (next: NonNullable<RuleProps['rule']['cohort']>) => void;
}): ReactNode {
  const listId = useId();
  const { integration, id } = cohort;
  const known = useQuery({ ...cohortsQuery(workspace, integration), enabled: platforms.includes(integration) });
  return (
    <>
      <datalist id={listId}>
        {known.data?.items.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name ?? one.id}
          </option>
        ))}
      </datalist>
      <Field
        label="the cohort"
        isMono
        list={listId}
        autoComplete="off"
        placeholder="Cohort id at the platform"
        note={known.data?.items.find((one) => one.id === id)?.name ?? undefined}
        value={id}
        onChange={(next) => onChange({ ...cohort, id: next })}
      />
      <NativeSelect
        label="of"
        options={[
          ...(integration === '' ? [{ id: '', name: 'Choose an integration' }] : []),
          ...named([...platforms, ...(integration === '' ? [] : [integration])]),
        ]}
        value={integration}
        onChange={(next) => onChange({ ...cohort, integration: next })}
      />
    </>
  );
}
