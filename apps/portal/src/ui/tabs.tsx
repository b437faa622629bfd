import type { ReactNode } from 'react';
import { Tab, TabList, TabPanel, Tabs as AriaTabs } from 'react-aria-components';
import { cls } from './class-names.ts';
import styles from './tabs.module.css';

export type TabOf = { readonly id: string; readonly name: string; readonly content: ReactNode };

/** Views of one thing, one at a time. Where the choice is part of the address, `chosen` and `onChoose` say it. */
export function Tabs({
  label,
  tabs,
  chosen,
  onChoose,
}: {
  readonly label: string;
  readonly tabs: readonly TabOf[];
  readonly chosen?: string;
  readonly onChoose?: (id: string) => void;
}): ReactNode {
  return (
    <AriaTabs
      className={cls(styles.tabs)}
      {...(chosen !== undefined && { selectedKey: chosen })}
      {...(onChoose && { onSelectionChange: (key) => onChoose(String(key)) })}
    >
      <TabList aria-label={label} className={cls(styles.list)}>
        {tabs.map(({ id, name }) => (
          <Tab key={id} id={id} className={cls(styles.tab)}>
            {name}
          </Tab>
        ))}
      </TabList>
      {tabs.map(({ id, content }) => (
        <TabPanel key={id} id={id} className={cls(styles.panel)}>
          {content}
        </TabPanel>
      ))}
    </AriaTabs>
  );
}
