import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { EditedDraft, Fault } from '../../api/use-draft.ts';
import { CodeField } from '../../ui/code-field.tsx';
import type { Complete } from '../../ui/code-words.ts';
import { cls } from '../../ui/class-names.ts';
import { Field } from '../../ui/field.tsx';
import { Segments } from '../../ui/segments.tsx';
import { Select } from '../../ui/select.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { layoutsQuery } from './queries.ts';
import { BASE, partIn, variantIn, withPart, withVariant, type Channel } from './template-parts.ts';
import styles from './templates.module.css';

type Props = {
  readonly draft: EditedDraft<'templates'>;
  readonly channel: Channel;
  readonly locale: string;
  readonly complete: Complete;
  readonly onRun: () => void;
};

const wordsOf = (faults: readonly Fault[]): string | null =>
  faults.length === 0 ? null : faults.map(({ message, fix }) => `${message}. ${fix}`).join(' ');

/** The parts of one channel in one language. */
export function PartFields(props: Props): ReactNode {
  const { channel } = props;
  return (
    <div className={cls(styles.fields)}>
      {channel === 'email' && <EmailFields {...props} />}
      {channel === 'sms' && <Part {...props} part="text" label="Text" language="text" lines={6} isNeeded />}
      {channel === 'push' && <PushFields {...props} />}
    </div>
  );
}

function EmailFields(props: Props): ReactNode {
  const { draft, channel, locale } = props;
  const { data: layouts } = useQuery(layoutsQuery(draft.workspace));
  const variant = variantIn(draft.body, channel, locale);
  const written = variant['mjml'] !== undefined ? 'mjml' : variant['html'] !== undefined ? 'html' : 'text';
  const layout = typeof variant['layout'] === 'string' ? variant['layout'] : '';
  return (
    <>
      <Part {...props} part="subject" label="Subject" language="text" lines={1} isNeeded />
      <Part
        {...props}
        part="preheader"
        label="Preheader"
        language="text"
        lines={1}
        note="Beside the subject in the list of mails; left empty, the beginning of the body."
      />
      <Part {...props} part="from" label="Sender" language="text" lines={1} note="Left empty, that of the account." />
      <div className={cls(styles.wide)}>
        <Select
          label="Layout"
          options={[
            { id: '', name: 'none' },
            ...(layouts?.items ?? []).map(({ name }) => ({ id: name, name })),
            ...(layout === '' || layouts?.items.some(({ name }) => name === layout)
              ? []
              : [{ id: layout, name: layout }]),
          ]}
          chosen={layout}
          onChoose={(name) => draft.change((before) => withPart(before, channel, locale, 'layout', name))}
        />
      </div>
      <Segments
        label="Written in"
        options={[
          { id: 'html', name: 'HTML' },
          { id: 'mjml', name: 'MJML' },
          { id: 'text', name: 'Text alone' },
        ]}
        chosen={written}
        onChoose={(next) => {
          const { html, mjml, ...rest } = variant;
          const source = mjml ?? html ?? '';
          const other = next === 'text' ? { text: '', ...rest } : { ...rest, [next]: source };
          draft.change((before) => withVariant(before, channel, locale, other));
        }}
      />
      {written !== 'text' && (
        <Part
          {...props}
          key={written}
          part={written}
          label={written === 'mjml' ? 'MJML' : 'HTML'}
          language="html"
          lines={16}
          isNeeded
        />
      )}
      <Part
        {...props}
        part="text"
        label="Text"
        language="text"
        lines={written === 'text' ? 12 : 4}
        isNeeded={written === 'text'}
        {...(written !== 'text' && { note: 'For programs that show no HTML; left empty, made from it.' })}
      />
      {locale === BASE && (
        <Checkbox
          isOn={variant['strict'] === true}
          onChange={(isOn) =>
            draft.change((before) => withVariant(before, channel, locale, { ...variant, strict: isOn }))
          }
        >
          Send nothing where a variable is missing
        </Checkbox>
      )}
    </>
  );
}

function PushFields(props: Props): ReactNode {
  return (
    <>
      <Part {...props} part="title" label="Title" language="text" lines={1} />
      <Part {...props} part="body" label="Body" language="text" lines={3} />
      <Part
        {...props}
        part="link"
        label="A tap opens"
        language="text"
        lines={1}
        note="An https address; left out where it comes out empty."
      />
      <Part {...props} part="image" label="Picture" language="text" lines={1} />
      <Part
        {...props}
        part="collapse"
        label="Takes the place of"
        language="text"
        lines={1}
        note="A later one with the same key takes the place of this one."
      />
    </>
  );
}

function Part({
  draft,
  channel,
  locale,
  part,
  label,
  language,
  lines,
  note,
  complete,
  onRun,
  isNeeded = false,
}: Props & {
  readonly part: string;
  readonly label: string;
  readonly language: 'html' | 'text';
  readonly lines: number;
  readonly note?: string;
  readonly isNeeded?: boolean;
}): ReactNode {
  const path = locale === BASE ? `${channel}.${part}` : `${channel}.locales.${locale}.${part}`;
  const faults = draft.faultsAt(path);
  const value = partIn(draft.body, channel, locale, part);
  const change = (text: string): void =>
    draft.change((before) => withPart(before, channel, locale, part, text, isNeeded));
  if (language === 'text' && lines === 1) {
    return <Field label={label} note={note} value={value} onChange={change} fault={wordsOf(faults)} />;
  }
  return (
    <CodeField
      label={label}
      language={language}
      value={value}
      onChange={change}
      complete={complete}
      onRun={onRun}
      minLines={lines}
      faults={faults.map(({ line, column, message, fix }) => ({ line: line ?? 1, column: column ?? 1, message, fix }))}
      {...(note !== undefined && { note })}
    />
  );
}
