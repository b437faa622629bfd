import { useState, type ReactNode } from 'react';
import { cls } from './class-names.ts';
import { Field } from './field.tsx';
import styles from './search.module.css';

/** Looks for what was typed once Enter is pressed: an address is found as a whole. */
export function Search({
  label,
  found,
  onFind,
}: {
  readonly label: string;
  readonly found: string;
  readonly onFind: (word: string) => void;
}): ReactNode {
  const [typed, setTyped] = useState(found);
  const [known, setKnown] = useState(found);
  // What was looked for stands in the address, which also goes back. The field stays the same one, or the focus would be lost.
  if (known !== found) {
    setKnown(found);
    setTyped(found);
  }
  return (
    <form
      role="search"
      className={cls(styles.search)}
      data-search
      onSubmit={(event) => {
        event.preventDefault();
        onFind(typed.trim());
      }}
    >
      <Field
        label={label}
        hidesLabel
        type="search"
        placeholder={`${label}, then Enter`}
        autoComplete="off"
        value={typed}
        onChange={setTyped}
      />
    </form>
  );
}
