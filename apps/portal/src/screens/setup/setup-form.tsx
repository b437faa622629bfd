import type { ReactNode } from 'react';
import type { Bodies } from '../../api/draft-calls.ts';
import type { EditedDraft } from '../../api/use-draft.ts';
import { FormFaults } from '../../faults/form-faults.tsx';
import { faultText } from '../../faults/fault-text.ts';
import { cls } from '../../ui/class-names.ts';
import { Field } from '../../ui/field.tsx';
import { FaultScope } from '../../ui/held-fault.tsx';
import { Select } from '../../ui/select.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { secretNameOf, textAt, withText, type Part } from './parts.ts';
import { SecretPart } from './secret-part.tsx';
import styles from './setup.module.css';

export type SetupDraft = EditedDraft<'integrations'> | EditedDraft<'accounts'>;

/** The settings of one kind, as they are edited: what is rare is folded. */
export function SetupForm({
  draft,
  parts,
}: {
  readonly draft: SetupDraft;
  readonly parts: readonly Part[];
}): ReactNode {
  const rare = parts.filter((part) => part.isRare === true);
  // Faults of what no field shows are said all the same.
  const shown = parts.flatMap(({ path }) => draft.faultsAt(path.join('.')));
  const others = draft.faults.filter((fault) => !shown.includes(fault));
  return (
    <FaultScope draft={draft}>
      <div className={cls(styles.form)}>
        {parts
          .filter((part) => part.isRare !== true)
          .map((part) => (
            <PartField key={part.path.join('.')} part={part} draft={draft} />
          ))}
        {rare.length > 0 && (
          <details className={cls(styles.rare)}>
            <summary>More settings</summary>
            <div className={cls(styles.form)}>
              {rare.map((part) => (
                <PartField key={part.path.join('.')} part={part} draft={draft} />
              ))}
            </div>
          </details>
        )}
        <FormFaults faults={others} />
      </div>
    </FaultScope>
  );
}

function PartField({ part, draft }: { readonly part: Part; readonly draft: SetupDraft }): ReactNode {
  const { path, label, note, placeholder, kind, options = [] } = part;
  const value = textAt(draft.body, part);
  // A secret that is missing is missing as the whole of its group too.
  const [wrong] = draft.faultsAt(path.join('.'));
  const fault = wrong ? faultText(wrong) : null;
  const write = (text: string): void => change(draft, part, text);
  if (kind === 'secret') {
    return (
      <SecretPart
        workspace={draft.workspace}
        label={label}
        note={note}
        name={value}
        proposed={secretNameOf(draft.name, part.ending ?? 'KEY')}
        isOurs={part.isOurs ?? false}
        isLong={part.isLong ?? false}
        fault={fault}
        onName={write}
      />
    );
  }
  if (kind === 'choice') {
    return (
      <Select
        label={label}
        options={options}
        chosen={value === '' ? (options[0]?.id ?? null) : value}
        onChoose={write}
        fault={fault}
        {...(note !== undefined && { note })}
      />
    );
  }
  if (kind === 'yes') {
    return (
      <Checkbox isOn={value === 'true'} onChange={(isOn) => write(String(isOn))}>
        {label}
      </Checkbox>
    );
  }
  return (
    <Field
      label={label}
      note={note}
      fault={fault}
      value={value}
      onChange={write}
      isLong={kind === 'list'}
      {...(kind === 'number' && { inputMode: 'numeric' as const })}
      {...(placeholder !== undefined && { placeholder })}
    />
  );
}

/** Types of all kinds in one: what a kind does not have is refused by the check, where it stands. */
function change(draft: SetupDraft, part: Part, text: string): void {
  if (draft.kind === 'accounts') draft.change((before) => withText(before, part, text) as Bodies['accounts']);
  else draft.change((before) => withText(before, part, text) as Bodies['integrations']);
}
