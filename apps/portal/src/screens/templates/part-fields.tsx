import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { EditedDraft } from '../../api/use-draft.ts';
import { CodeField } from '../../ui/code-field.tsx';
import type { CodeVariable, Complete } from '../../ui/code-words.ts';
import { cls } from '../../ui/class-names.ts';
import { NativeSelect } from '../../ui/native-select.tsx';
import { say } from '../../ui/notices.ts';
import { Segments } from '../../ui/segments.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { draftsQuery } from '../drafts/queries.ts';
import { languageName, partFallback, settingsFallback } from './fallbacks.ts';
import { layoutsQuery } from './queries.ts';
import { namesWithDrafts } from './with-drafts.ts';
import { BASE, partIn, variantIn, withPart, withSource, withVariant, type Channel } from './template-parts.ts';
import styles from './templates.module.css';

type Props = {
  readonly draft: EditedDraft<'templates'>;
  readonly channel: Channel;
  /** Languages that are shown, one or two: each part stands in all of them beside one another. */
  readonly locales: readonly string[];
  readonly complete: Complete;
  /** Variables that the button of each field inserts. */
  readonly variables: readonly CodeVariable[];
};
type ColumnProps = Omit<Props, 'locales'> & {
  readonly locale: string;
  /** What a part is called there: with its language where there are several. */
  readonly named: (label: string) => string;
  /** What is true of all columns is said in this one alone. */
  readonly isFirst: boolean;
};

const FIELDS: Readonly<Record<Channel, readonly string[]>> = {
  email: ['subject', 'preheader', 'from', 'html', 'mjml', 'text'],
  sms: ['text'],
  push: ['title', 'body', 'link', 'image', 'collapse'],
};
const pathOf = (channel: Channel, locale: string, part: string): string =>
  locale === BASE ? `${channel}.${part}` : `${channel}.locales.${locale}.${part}`;

/** Whether a field here shows the faults at a path. */
export const isAtField = (path: string, channel: Channel, locales: readonly string[]): boolean =>
  locales.some((locale) => FIELDS[channel].some((part) => path === pathOf(channel, locale, part)));

/** The parts of one channel. */
export function PartFields(props: Props): ReactNode {
  const { channel } = props;
  return (
    <div className={cls(styles.fields)}>
      {channel === 'email' && <EmailFields {...props} />}
      {channel === 'sms' && <Part {...props} part="text" label="Text" lines={6} isNeeded />}
      {channel === 'push' && <PushFields {...props} />}
      <Columns {...props}>{(column) => <Settings {...column} />}</Columns>
    </div>
  );
}

/** What belongs to the one without a language alone. */
function Settings({ draft, channel, locale, named }: ColumnProps): ReactNode {
  const words = settingsFallback(draft.body, channel, locale);
  if (words !== null) return <p className={cls(styles.quiet)}>{words}</p>;
  const variant = variantIn(draft.body, channel, locale);
  return (
    channel === 'email' && (
      <Checkbox
        isOn={variant['strict'] === true}
        onChange={(isOn) =>
          draft.change((before) => withVariant(before, channel, locale, { ...variant, strict: isOn }))
        }
      >
        {named('Do not send if a variable is missing')}
      </Checkbox>
    )
  );
}

/** The same in each language that is shown: on a phone one below the other. */
function Columns({
  locales,
  children,
  ...props
}: Props & { readonly children: (column: ColumnProps) => ReactNode }): ReactNode {
  return (
    <div className={cls(styles.columns)} data-columns={locales.length}>
      {locales.map((locale, at) => (
        <div key={`${props.channel} ${locale}`} className={cls(styles.cell)}>
          {children({
            ...props,
            locale,
            isFirst: at === 0,
            named: (label) => (locales.length === 1 ? label : `${label} · ${languageName(locale)}`),
          })}
        </div>
      ))}
    </div>
  );
}

function EmailFields(props: Props): ReactNode {
  return (
    <>
      <Part {...props} part="subject" label="Subject" lines={1} isNeeded />
      <Part
        {...props}
        part="preheader"
        label="Preheader"
        lines={1}
        note="Shown after the subject in a list of mails. If empty, mail programs show the start of the body."
      />
      <Part {...props} part="from" label="Sender" lines={1} note="If empty, the sender of the account." />
      <Columns {...props}>{(column) => <LayoutChoice {...column} />}</Columns>
      <Columns {...props}>{(column) => <EmailBody {...column} />}</Columns>
    </>
  );
}

function LayoutChoice({ draft, channel, locale, named }: ColumnProps): ReactNode {
  const { data: layouts } = useQuery(layoutsQuery(draft.workspace));
  const { data: drafts } = useQuery(draftsQuery(draft.workspace));
  const layout = partIn(draft.body, channel, locale, 'layout');
  const known = namesWithDrafts(layouts?.items ?? [], drafts?.items ?? [], 'layout');
  const options = known.map(({ name, isNew }) => ({ id: name, name: isNew ? `${name} (draft)` : name }));
  const isKnown = layout === '' || known.some(({ name }) => name === layout);
  return (
    <>
      <NativeSelect
        label={named('Layout')}
        options={[{ id: '', name: 'none' }, ...options, ...(isKnown ? [] : [{ id: layout, name: layout }])]}
        value={layout}
        onChange={(name) => draft.change((before) => withPart(before, { channel, locale }, 'layout', name))}
      />
      <Fallback draft={draft} channel={channel} locale={locale} part="layout" />
    </>
  );
}

function EmailBody(props: ColumnProps): ReactNode {
  const { draft, channel, locale, named } = props;
  const variant = variantIn(draft.body, channel, locale);
  const written = variant['mjml'] !== undefined ? 'mjml' : variant['html'] !== undefined ? 'html' : 'text';
  return (
    <>
      <Segments
        label={named('Format')}
        options={[
          { id: 'html', name: 'HTML' },
          { id: 'mjml', name: 'MJML' },
          { id: 'text', name: 'Only text' },
        ]}
        chosen={written}
        onChoose={(next) => {
          const { html, mjml, ...rest } = variant;
          const source = mjml ?? html ?? '';
          const other = next === 'text' ? { text: '', ...rest } : { ...rest, [next]: source };
          draft.change((before) => withVariant(before, channel, locale, other));
          if (next !== 'text' || written === 'text' || typeof source !== 'string' || source === '') return;
          say(`The ${written === 'mjml' ? 'MJML' : 'HTML'} is removed. The mail is only text.`, async () => {
            draft.change((before) => withSource(before, locale, written, source));
          });
        }}
      />
      {written === 'text' ? (
        <Fallback draft={draft} channel={channel} locale={locale} part="html" />
      ) : (
        <OnePart
          {...props}
          key={written}
          part={written}
          label={written === 'mjml' ? 'MJML' : 'HTML'}
          language="html"
          lines={16}
          isNeeded
        />
      )}
      <OnePart
        {...props}
        part="text"
        label="Text"
        lines={written === 'text' ? 12 : 4}
        isNeeded={written === 'text'}
        {...(written !== 'text' && {
          note: 'For mail programs without HTML. If empty, Carillon makes it from the HTML.',
        })}
      />
    </>
  );
}

function PushFields(props: Props): ReactNode {
  return (
    <>
      <Part {...props} part="title" label="Title" lines={1} />
      <Part {...props} part="body" label="Body" lines={3} />
      <Part
        {...props}
        part="link"
        label="Link"
        lines={1}
        note="An https URL. Without a value, the message has no link."
      />
      <Part {...props} part="image" label="Picture" lines={1} />
      <Part
        {...props}
        part="collapse"
        label="Replacement key"
        lines={1}
        note="A later notification with the same key replaces this one on the device."
      />
    </>
  );
}

type PartProps = {
  readonly part: string;
  readonly label: string;
  readonly language?: 'html' | 'text';
  readonly lines: number;
  readonly note?: string;
  readonly isNeeded?: boolean;
};

/** One part in each language that is shown. */
function Part({ part, label, lines, note, isNeeded, ...props }: Props & PartProps): ReactNode {
  const own = { part, label, lines, ...(note !== undefined && { note }), ...(isNeeded === true && { isNeeded }) };
  return <Columns {...props}>{(column) => <OnePart {...column} {...own} />}</Columns>;
}

function OnePart({
  draft,
  channel,
  locale,
  named,
  isFirst,
  part,
  label,
  language = 'text',
  lines,
  note,
  complete,
  variables,
  isNeeded = false,
}: ColumnProps & PartProps): ReactNode {
  const path = pathOf(channel, locale, part);
  return (
    <div className={cls(styles.cell)}>
      <CodeField
        label={named(label)}
        language={language}
        isSingleLine={lines === 1}
        value={partIn(draft.body, channel, locale, part)}
        onChange={(text) => draft.change((before) => withPart(before, { channel, locale }, part, text, isNeeded))}
        complete={complete}
        variables={variables}
        minLines={lines}
        faults={draft
          .faultsAt(path)
          .map(({ line, column, message, fix }) => ({ line: line ?? 1, column: column ?? 1, message, fix }))}
        {...(isFirst && note !== undefined && { note })}
      />
      {draft.warnings
        .filter((warning) => warning.path === path)
        .map(({ line, column, message, fix }) => (
          <p key={`${line}:${column} ${message}`} data-warning={part} className={cls(styles.warning)}>
            {message}. {fix}
          </p>
        ))}
      <Fallback draft={draft} channel={channel} locale={locale} part={part} />
    </div>
  );
}

/** What its readers get where a part has no words of its own. */
function Fallback({
  draft,
  channel,
  locale,
  part,
}: Pick<ColumnProps, 'draft' | 'channel' | 'locale'> & { readonly part: string }): ReactNode {
  const fallback = partFallback(draft.body, channel, locale, part);
  if (fallback === null) return null;
  return (
    <p data-fallback={part} className={cls(fallback.isFault ? styles.fault : styles.quiet)}>
      {fallback.words}
    </p>
  );
}
