import { useState, type FormEvent, type ReactNode } from 'react';
import type { Bodies, Editable } from '../../api/draft-calls.ts';
import { saveDraft } from '../../api/draft-calls.ts';
import { reloadDrafts } from '../../api/use-draft.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Curl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { RadioGroup } from '../../ui/radio-group.tsx';
import { savingCall } from '../drafts/draft-call.ts';
import { nameFault } from './parts.ts';

export type NewKind<Kind extends Editable> = {
  readonly id: string;
  readonly name: string;
  /** What it is for, in a line. */
  readonly what: string;
  /** What it begins as. */
  readonly body: Bodies[Kind];
};

/** Names something new and chooses its kind; it begins as a draft, and nothing counts until that is published. */
export function NewSetup<Kind extends Editable>({
  title,
  workspace,
  kind,
  kinds,
  taken,
  onMade,
  onClose,
}: {
  readonly title: string;
  readonly workspace: string;
  readonly kind: Kind;
  readonly kinds: readonly NewKind<Kind>[];
  readonly taken: readonly string[];
  readonly onMade: (name: string) => void;
  readonly onClose: () => void;
}): ReactNode {
  const [first] = kinds;
  const [chosen, setChosen] = useState(first?.id ?? '');
  const [typed, setTyped] = useState<string | null>(null);
  const [error, setError] = useState<Error | null>(null);
  // A name is proposed by what was chosen, until one is typed.
  const name = typed ?? (kinds.length > 1 ? freeName(chosen, taken) : '');
  const fault = nameFault(name, taken);
  const begun = kinds.find(({ id }) => id === chosen);
  const make = async (event?: FormEvent): Promise<void> => {
    event?.preventDefault();
    if (name === '' || fault !== null || !begun) return;
    try {
      await saveDraft({ kind, workspace, name }, savingOf(begun));
      reloadDrafts(workspace);
      onMade(name);
    } catch (failure) {
      setError(failure as Error);
    }
  };
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      foot={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="main" isDisabled={name === '' || fault !== null} onPress={() => void make()}>
            Create a draft
          </Button>
        </>
      }
    >
      {error && <Problem error={error} />}
      <form onSubmit={(event) => void make(event)}>
        {kinds.length > 1 && (
          <RadioGroup
            label="Kind"
            options={kinds.map(({ id, name: words, what }) => ({ id, name: words, note: what }))}
            chosen={chosen}
            onChoose={setChosen}
          />
        )}
        <Field
          label="Name"
          isMono
          autoFocus={kinds.length === 1}
          value={name}
          onChange={setTyped}
          fault={fault}
          note="Small letters, digits and hyphens. Used in files and links; it cannot be changed."
        />
      </form>
      {name !== '' && begun && <Curl call={savingCall({ kind, workspace, name }, savingOf(begun))} />}
    </Dialog>
  );
}

const savingOf = ({ body }: { readonly body: unknown }) => ({ body, revision: null, basedOn: null });

function freeName(kind: string, taken: readonly string[]): string {
  for (let at = 1; ; at += 1) {
    const name = at === 1 ? kind : `${kind}-${at}`;
    if (!taken.includes(name)) return name;
  }
}
