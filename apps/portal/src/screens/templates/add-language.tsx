import { useId, useState, type ReactNode } from 'react';
import type { EditedDraft } from '../../api/use-draft.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { channelsIn, isLocale, localesIn, type Channel } from './template-parts.ts';

const COMMON = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pl', 'pt', 'ja', 'zh'];

/** Languages offered for a channel: first those of the workspace and of the template's other channels, then common languages. */
export function offeredLanguages(body: unknown, channel: Channel, ofWorkspace: string): readonly string[] {
  const own = localesIn(body, channel);
  const elsewhere = channelsIn(body).flatMap((one) => localesIn(body, one));
  return [...new Set([ofWorkspace, ...elsewhere, ...COMMON])].filter((one) => !own.includes(one));
}

/** Asks for a language. Any language may be typed. */
export function AddLanguage({
  locales,
  draft,
  channel,
  ofWorkspace,
  onClose,
  onAdd,
}: {
  readonly locales: readonly string[];
  readonly draft: EditedDraft<'templates'>;
  readonly channel: Channel;
  readonly ofWorkspace: string;
  readonly onClose: () => void;
  readonly onAdd: (locale: string) => void;
}): ReactNode {
  const listId = useId();
  const [typed, setTyped] = useState('');
  const fault =
    typed === '' || (isLocale(typed) && !locales.includes(typed))
      ? null
      : locales.includes(typed)
        ? 'This language exists already.'
        : 'Enter a language such as de or de-AT.';
  return (
    <Dialog
      title="Add a language"
      isOpen
      onClose={onClose}
      foot={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="main" isDisabled={typed === '' || fault !== null} onPress={() => onAdd(typed)}>
            Add the language
          </Button>
        </>
      }
    >
      <datalist id={listId}>
        {offeredLanguages(draft.body, channel, ofWorkspace).map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <Field
        label="Language"
        list={listId}
        autoComplete="off"
        placeholder="de"
        value={typed}
        onChange={setTyped}
        fault={fault}
        note="It starts as a copy of Default, because it needs every part."
      />
    </Dialog>
  );
}
