import { Plus } from 'lucide-react';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import type { EditedDraft } from '../../api/use-draft.ts';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { NativeSelect } from '../../ui/native-select.tsx';
import { say } from '../../ui/notices.ts';
import { Segments } from '../../ui/segments.tsx';
import { channelsWithout, fallbackWords, fallsBackTo, languageName } from './fallbacks.ts';
import {
  BASE,
  CHANNEL_NAMES,
  channelsIn,
  localesIn,
  variantIn,
  withLocale,
  withRemoved,
  withVariant,
  type Channel,
} from './template-parts.ts';
import styles from './templates.module.css';

/** Comes after the page: few people add a language. */
const AddLanguage = lazy(async () => ({ default: (await import('./add-language.tsx')).AddLanguage }));

/** In place of a language beside the chosen one, in the address: none; and the one without a language. */
const ALONE = 'alone';
const WITHOUT = 'base';

/** What is shown of a template, in the address. */
export type TemplateSearch = { readonly channel?: string; readonly locale?: string; readonly beside?: string };

/** The language that stands beside the chosen one: the one that was asked for, else the one that it falls back to; null: none. */
export function besideOf(
  asked: string | undefined,
  locale: string,
  locales: readonly string[],
  ofWorkspace: string,
): string | null {
  if (asked === WITHOUT && locale !== BASE) return BASE;
  if (asked !== undefined && asked !== locale && locales.includes(asked)) return asked;
  return asked === ALONE || locale === BASE ? null : fallsBackTo(locale, locales, ofWorkspace);
}

/** The languages of a channel, which two are shown, what they fall back to, and adding one. */
export function Languages({
  draft,
  channel,
  locale,
  beside,
  ofWorkspace,
  onGo,
}: {
  readonly draft: EditedDraft<'templates'>;
  readonly channel: Channel;
  readonly locale: string;
  readonly beside: string | null;
  readonly ofWorkspace: string;
  readonly onGo: (next: TemplateSearch) => void;
}): ReactNode {
  const [isAdding, setAdding] = useState(false);
  const locales = localesIn(draft.body, channel);
  const others = channelsIn(draft.body)
    .filter((one) => one !== channel)
    .map((id) => ({ id, name: CHANNEL_NAMES[id] }));
  const all = [{ id: BASE, name: 'Default' }, ...locales.map((id) => ({ id, name: id }))];
  const words = [
    fallbackWords(locale, locales, ofWorkspace),
    channelsWithout(draft.body, locale, others),
    beside === null || beside === BASE ? null : fallbackWords(beside, locales, ofWorkspace),
  ];
  return (
    <>
      <div className={cls(styles.bar, styles.languages)}>
        {locales.length > 0 && (
          <Segments label="Language" options={all} chosen={locale} onChoose={(next) => onGo({ locale: next })} />
        )}
        <Button onPress={() => setAdding(true)}>
          <Plus size={16} aria-hidden />
          Language
        </Button>
        {locale !== BASE && (
          <Button
            onPress={() => {
              const removed = variantIn(draft.body, channel, locale);
              draft.change((before) => withVariant(before, channel, locale, null));
              onGo({ locale: BASE });
              say(`${languageName(locale)} is removed from ${CHANNEL_NAMES[channel]}.`, async () => {
                draft.change((before) => withRemoved(before, channel, locale, removed));
              });
            }}
          >
            Remove {locale}
          </Button>
        )}
        {locales.length > 0 && (
          <NativeSelect
            label="Compare with"
            options={[
              { id: ALONE, name: 'none' },
              ...all
                .filter(({ id }) => id !== locale)
                .map(({ id, name }) => ({ id: id === BASE ? WITHOUT : id, name })),
            ]}
            value={beside === null ? ALONE : beside === BASE ? WITHOUT : beside}
            onChange={(next) => onGo({ beside: next })}
          />
        )}
      </div>
      <p className={cls(styles.quiet)}>{words.filter((one) => one !== null).join(' ')}</p>
      {isAdding && (
        <Suspense fallback={null}>
          <AddLanguage
            locales={locales}
            draft={draft}
            channel={channel}
            ofWorkspace={ofWorkspace}
            onClose={() => setAdding(false)}
            onAdd={(added) => {
              draft.change((before) => withLocale(before, channel, added));
              setAdding(false);
              onGo({ locale: added });
            }}
          />
        </Suspense>
      )}
    </>
  );
}
