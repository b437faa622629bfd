import type { ReactNode } from 'react';
import { Field } from '../../ui/field.tsx';
import { NativeSelect } from '../../ui/native-select.tsx';
import { textAt, withText, type Part } from '../setup/parts.ts';
import type { Settings } from './make-workspace.ts';
import { zoneOptions } from './time-zones.ts';

const NAME: Part = { path: ['name'], kind: 'text', label: 'Name for people' };
const ZONE: Part = { path: ['time_zone'], kind: 'text', label: 'Time zone' };
const LOCALE: Part = { path: ['locale'], kind: 'text', label: 'Language' };

/** What a workspace is called, and the clock and language of people who have none of their own. */
export function SettingsFields({
  body,
  workspace,
  isOff = false,
  faultOf,
  onChange,
}: {
  readonly body: Settings;
  readonly workspace: string;
  readonly isOff?: boolean;
  readonly faultOf: (path: 'name' | 'time_zone' | 'locale') => string | null;
  readonly onChange: (change: (before: Settings) => Settings) => void;
}): ReactNode {
  const write = (part: Part, text: string): void => onChange((before) => withText(before, part, text));
  const zone = textAt(body, ZONE);
  return (
    <>
      <Field
        label={NAME.label}
        isDisabled={isOff}
        placeholder={workspace}
        fault={faultOf('name')}
        value={textAt(body, NAME)}
        onChange={(text) => write(NAME, text)}
        note="If empty, the name in files and links is shown."
      />
      <NativeSelect
        label={ZONE.label}
        isDisabled={isOff}
        options={zoneOptions(zone)}
        value={zone === '' ? 'UTC' : zone}
        onChange={(id) => write(ZONE, id)}
        fault={faultOf('time_zone')}
        note="For people without their own time zone. Used for quiet hours, and for times in messages and in this portal."
      />
      <Field
        label={LOCALE.label}
        isDisabled={isOff}
        placeholder="en"
        fault={faultOf('locale')}
        value={textAt(body, LOCALE)}
        onChange={(text) => write(LOCALE, text)}
        note="For people without their own language, such as en or de-AT. If empty: en."
      />
    </>
  );
}
