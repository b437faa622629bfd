import { useState, type ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { FaultList } from '../../faults/fault-list.tsx';
import { cls } from '../../ui/class-names.ts';
import { Card, Quiet, Rows } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import { counted, titleOf } from '../drafts/change-words.ts';
import { ReviewedDraft } from '../drafts/reviewed-draft.tsx';
import type { Named, Promoted } from './queries.ts';
import styles from './promote.module.css';

/** What a promotion and a copy have in common. */
export type Transfer = Pick<Promoted, 'drafts' | 'unchanged' | 'in_the_way' | 'missing' | 'plan'>;
type TransferDraft = Transfer['drafts'][number];

export const keyOf = ({ kind, name }: Named): string => `${kind} ${name}`;

/** Returns the drafts that are checked and a function that checks or unchecks one. Drafts that replace something newer start unchecked. */
export function useChosenDrafts(drafts: readonly TransferDraft[]) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const isChosen = (draft: TransferDraft): boolean => toggled.has(keyOf(draft)) === draft.replaces_newer;
  const toggle = (draft: TransferDraft): void => {
    const next = new Set(toggled);
    if (!next.delete(keyOf(draft))) next.add(keyOf(draft));
    setToggled(next);
  };
  return { chosen: drafts.filter(isChosen), isChosen, toggle };
}

/** Lists what the target lacks and a promotion does not copy, before anything is written. */
export function Missing({ to, missing }: { readonly to: string; readonly missing: Transfer['missing'] }): ReactNode {
  if (missing.length === 0) return null;
  return (
    <Card title={`Missing in ${to}`}>
      <ul aria-label={`Missing in ${to}`} className={cls(styles.warnings)}>
        {missing.map((resource) => (
          <li key={keyOf(resource)}>
            {titleOf(resource)}, needed by {resource.needed_by.join(', ')}
          </li>
        ))}
      </ul>
      <p>These are never copied. Create them in {to}, then publish the drafts.</p>
    </Card>
  );
}

/** Drafts of others in the target, which are not overwritten. */
export function InTheWay({ to, drafts }: { readonly to: string; readonly drafts: Transfer['in_the_way'] }): ReactNode {
  if (drafts.length === 0) return null;
  return (
    <Card title="Existing drafts">
      <p>Somebody has a draft of these in {to}. Publish or discard that draft first.</p>
      <ul aria-label="Existing drafts" className={cls(styles.lines)}>
        {drafts.map((draft: Schemas['DraftFacts']) => (
          <li key={keyOf(draft)}>
            {titleOf(draft)} <Quiet>by {draft.by.name ?? draft.by.id}</Quiet>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The drafts that would be written, each with a checkbox, its mistakes and its changes. */
export function TransferRows({
  label,
  to,
  transfer,
  isChosen,
  onToggle,
}: {
  readonly label: string;
  readonly to: string;
  readonly transfer: Transfer;
  readonly isChosen: (draft: TransferDraft) => boolean;
  readonly onToggle: (draft: TransferDraft) => void;
}): ReactNode {
  return (
    <Rows label={label}>
      {transfer.drafts.map((draft) => (
        <TransferRow
          key={keyOf(draft)}
          draft={draft}
          to={to}
          plan={transfer.plan}
          isChosen={isChosen(draft)}
          onToggle={() => onToggle(draft)}
        />
      ))}
    </Rows>
  );
}

function stateWords({ action, replaces_newer: replacesNewer }: TransferDraft, to: string): string {
  if (action === 'create') return `New in ${to}`;
  return replacesNewer ? `Would undo a newer change in ${to}` : `Changes in ${to}`;
}

function TransferRow({
  draft,
  to,
  plan,
  isChosen,
  onToggle,
}: {
  readonly draft: TransferDraft;
  readonly to: string;
  readonly plan: Transfer['plan'];
  readonly isChosen: boolean;
  readonly onToggle: () => void;
}): ReactNode {
  const faults = plan.faults.filter((fault) => keyOf(fault) === keyOf(draft));
  return (
    <li className={cls(styles.wanted)}>
      <div className={cls(styles.headline)}>
        <label className={cls(styles.choose)}>
          <input type="checkbox" checked={isChosen} onChange={onToggle} />
          {titleOf(draft)}
        </label>
        {faults.length > 0 ? (
          <Lamp tone="bad">{counted(faults.length, 'mistake')} there</Lamp>
        ) : draft.replaces_newer ? (
          <Lamp tone="held">{stateWords(draft, to)}</Lamp>
        ) : (
          <Quiet>{stateWords(draft, to)}</Quiet>
        )}
      </div>
      <FaultList faults={faults} />
      {/* The history of a new notification is kept in its draft, which does not exist yet. */}
      <ReviewedDraft draft={draft} plan={draft.action === 'create' ? { ...plan, changes: [] } : plan} />
    </li>
  );
}
