import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { NativeSelect } from '../../ui/native-select.tsx';
import { Quiet } from '../../ui/page.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { counted } from '../drafts/change-words.ts';
import type { ChoiceRowProps } from './choice-card.tsx';
import { ChoiceRow } from './choice-row.tsx';
import type { DatabaseTable } from './queries.ts';
import { NoRowBefore } from './row-before.tsx';
import { keyColumnOf, keyPathOf, type ChosenTable } from './stream-drafts.ts';
import styles from './sources.module.css';

/** A table to choose; a chosen one with its key and columns. */
export function TableRow({
  item: table,
  streams,
  chosen,
  onChange,
}: ChoiceRowProps<DatabaseTable, ChosenTable>): ReactNode {
  const { table: name, columns, identity, problem } = table;
  return (
    <ChoiceRow
      name={name}
      size={counted(columns.length, 'column', 'columns')}
      streams={streams}
      problem={problem}
      isChosen={chosen !== null}
      onChoose={(isOn) => onChange(isOn ? { name, key: keyColumnOf(table), without: [] } : null)}
    >
      {chosen !== null && (
        <>
          {identity !== 'full' && <NoRowBefore table={name} />}
          <NativeSelect
            label="Key"
            note="Changes with one key are evaluated in order. It cannot be changed later."
            options={columns.map(({ name: column }) => ({ id: column, name: keyPathOf(column) }))}
            value={chosen.key}
            onChange={(key) => onChange({ ...chosen, key, without: chosen.without.filter((column) => column !== key) })}
          />
          <Columns table={table} chosen={chosen} onChange={onChange} />
        </>
      )}
    </ChoiceRow>
  );
}

function Columns({
  table: { table, columns },
  chosen,
  onChange,
}: {
  readonly table: DatabaseTable;
  readonly chosen: ChosenTable;
  readonly onChange: (next: ChosenTable) => void;
}): ReactNode {
  const { without } = chosen;
  return (
    <details>
      <summary>
        Columns
        {without.length > 0 && <Quiet>, {counted(without.length, 'column is', 'columns are')} left out</Quiet>}
      </summary>
      <fieldset className={cls(styles.columns)}>
        <legend>Columns of {table} that Carillon keeps on its log</legend>
        {columns.map(({ name, type }) => (
          <Checkbox
            key={name}
            isOn={!without.includes(name)}
            isDisabled={name === chosen.key}
            onChange={(isOn) =>
              onChange({
                ...chosen,
                without: isOn ? without.filter((column) => column !== name) : [...without, name],
              })
            }
          >
            <bdi>{name}</bdi> <Quiet>{name === chosen.key ? `${type}, the key` : type}</Quiet>
          </Checkbox>
        ))}
      </fieldset>
    </details>
  );
}
