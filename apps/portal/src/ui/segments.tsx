import type { ReactNode } from 'react';
import { ToggleButton, ToggleButtonGroup } from 'react-aria-components';
import { cls } from './class-names.ts';
import styles from './segments.module.css';

/** Two or three views of one thing, of which one is shown. */
export function Segments<Id extends string>({
  label,
  options,
  chosen,
  onChoose,
}: {
  readonly label: string;
  readonly options: readonly { readonly id: Id; readonly name: string }[];
  readonly chosen: Id;
  readonly onChoose: (id: Id) => void;
}): ReactNode {
  return (
    <ToggleButtonGroup
      aria-label={label}
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[chosen]}
      onSelectionChange={(keys) => {
        const [key] = keys;
        const option = options.find(({ id }) => id === key);
        if (option) onChoose(option.id);
      }}
      className={cls(styles.group)}
    >
      {options.map(({ id, name }) => (
        <ToggleButton key={id} id={id} className={cls(styles.one)}>
          {name}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  );
}
