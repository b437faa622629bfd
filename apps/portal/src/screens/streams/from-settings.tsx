import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useId, useState, type ReactNode } from 'react';
import type { Bodies } from '../../api/draft-calls.ts';
import { FormFaults } from '../../faults/form-faults.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Field } from '../../ui/field.tsx';
import { FaultGroup } from '../../ui/held-fault.tsx';
import { NativeSelect } from '../../ui/native-select.tsx';
import { integrationsQuery } from '../integrations/queries.ts';
import { isDatabase } from '../integrations/integration-roles.ts';
import { ProblemFix } from '../sources/problem-fix.tsx';
import { tablesQuery } from '../sources/queries.ts';
import { keyColumnOf, keyPathOf } from '../sources/stream-drafts.ts';
import type { StreamDraft } from './stream-draft.ts';
import styles from './streams.module.css';

export type From = NonNullable<Bodies['streams']['from']>;
type Tables = NonNullable<From['tables']>;

/** The database of a stream, the tables that it reads, and the columns that it leaves out. */
export function FromSettings({
  draft,
  from,
  isOff,
}: {
  readonly draft: StreamDraft;
  readonly from: From;
  /** The user may not change it. */
  readonly isOff: boolean;
}): ReactNode {
  const change = (next: Partial<From>): void =>
    draft.change((before) => ({ ...before, from: { ...(before.from ?? from), ...next } }));
  return (
    <FaultGroup>
      <Database draft={draft} from={from} isOff={isOff} onChange={(integration) => change({ integration })} />
      {from.tables && (
        <TableList
          draft={draft}
          integration={from.integration}
          tables={from.tables}
          isOff={isOff}
          onChange={(tables) => change({ tables })}
        />
      )}
      <LeftOut from={from} isOff={isOff} onChange={(without) => change({ without: [...without] })} />
      <FormFaults faults={draft.faultsAt('from')} />
    </FaultGroup>
  );
}

type Props = { readonly draft: StreamDraft; readonly from: From; readonly isOff: boolean };

function Database({
  draft,
  from,
  isOff,
  onChange,
}: Props & { readonly onChange: (integration: string) => void }): ReactNode {
  const { data } = useQuery(integrationsQuery(draft.workspace));
  const sources = (data?.items ?? []).filter(({ body }) => isDatabase(body)).map(({ name }) => name);
  return (
    <NativeSelect
      label="Database"
      options={[...new Set([from.integration, ...sources])].map((id) => ({ id, name: id }))}
      value={from.integration}
      isDisabled={isOff}
      onChange={onChange}
    />
  );
}

function TableList({
  draft,
  integration,
  tables,
  isOff,
  onChange,
}: Omit<Props, 'from'> & {
  readonly integration: string;
  readonly tables: Tables;
  readonly onChange: (tables: Tables) => void;
}): ReactNode {
  const published = draft.resource?.body.from?.tables ?? {};
  const rows = Object.entries(tables);
  return (
    <fieldset className={cls(styles.set)}>
      <legend>Tables</legend>
      <ul aria-label="Tables of this stream" className={cls(styles.keyed)}>
        {rows.map(([name, key]) => (
          <li key={name}>
            <Field
              label={`Key of ${name}`}
              isMono
              placeholder="event.id"
              isDisabled={isOff || Object.hasOwn(published, name)}
              value={String(key)}
              onChange={(path) => onChange({ ...tables, [name]: path })}
            />
            {!isOff && rows.length > 1 && (
              <Button
                kind="quiet"
                isIcon
                aria-label={`Remove ${name}`}
                onPress={() => onChange(Object.fromEntries(rows.filter(([other]) => other !== name)))}
              >
                <X size={16} aria-hidden />
              </Button>
            )}
          </li>
        ))}
      </ul>
      <p className={cls(styles.note)}>
        Path of the key in the row, such as event.id. Changes with one key are evaluated in order, across tables. The
        key of a published table is fixed.
      </p>
      {!isOff && (
        <AddTable
          workspace={draft.workspace}
          integration={integration}
          isTaken={(table) => Object.hasOwn(tables, table)}
          onAdd={(table, key) => onChange({ ...tables, [table]: published[table] ?? key })}
        />
      )}
    </fieldset>
  );
}

/** Adds a table by its name. The tables of the database are offered, and give the path of the key. */
function AddTable({
  workspace,
  integration,
  isTaken,
  onAdd,
}: {
  readonly workspace: string;
  readonly integration: string;
  readonly isTaken: (table: string) => boolean;
  /** Called with the path of the primary key. Empty: the table is not known. */
  readonly onAdd: (table: string, key: string) => void;
}): ReactNode {
  const listId = useId();
  const [name, setName] = useState('');
  // Each read of the tables connects to the database, so it waits for a person who wants to add one.
  const [isWanted, setWanted] = useState(false);
  const { data } = useQuery({ ...tablesQuery(workspace, integration), enabled: isWanted });
  const table = name.trim();
  const found = data?.items.find((item) => item.table === table);
  const canAdd = table !== '' && !isTaken(table);
  const add = (): void => {
    onAdd(table, found === undefined ? '' : keyPathOf(keyColumnOf(found)));
    setName('');
  };
  return (
    <div className={cls(styles.keyed)}>
      <datalist id={listId}>
        {data?.items
          .filter((item) => !isTaken(item.table))
          .map((item) => (
            <option key={item.table} value={item.table} />
          ))}
      </datalist>
      <div>
        <Field
          label="Table to add"
          isMono
          list={listId}
          autoComplete="off"
          placeholder="public.payments"
          value={name}
          onFocus={() => setWanted(true)}
          onChange={setName}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && canAdd) add();
          }}
        />
        <Button isDisabled={!canAdd} onPress={add}>
          Add the table
        </Button>
      </div>
      {found?.problem && <ProblemFix {...found.problem} of={table} />}
    </div>
  );
}

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Keeps an empty last line while the user types the next column. */
function LeftOut({
  from: { without = [] },
  isOff,
  onChange,
}: Omit<Props, 'draft'> & { readonly onChange: (without: readonly string[]) => void }): ReactNode {
  const saved = without.join('\n');
  const [typed, setTyped] = useState(saved);
  return (
    <Field
      label="Columns to leave out"
      note="schema.table.column, one on each line. They never reach Carillon’s log."
      isLong
      isDisabled={isOff}
      placeholder="public.orders.card_number"
      value={linesOf(typed).join('\n') === saved ? typed : saved}
      onChange={(text) => {
        setTyped(text);
        onChange(linesOf(text));
      }}
    />
  );
}
