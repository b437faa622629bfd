import type { ReactNode } from 'react';
import { ChoiceCard, type ListedDraft } from './choice-card.tsx';
import { readTables, type DatabaseTable } from './queries.ts';
import { streamsOf, type ChosenTable } from './stream-drafts.ts';
import { TableRow } from './table-row.tsx';

/** Tables of the database, to choose those whose changes become events. */
export function Tables({ draft }: { readonly draft: ListedDraft }): ReactNode {
  return (
    <ChoiceCard<DatabaseTable, ChosenTable>
      draft={draft}
      reads="tables"
      note="Carillon reads changes of the tables that you choose. Rows that are there already fire no rule."
      readList={readTables}
      nameOf={({ table }) => table}
      row={TableRow}
      streamsOf={(chosen, layout) => streamsOf(draft.name, chosen, layout)}
    />
  );
}
