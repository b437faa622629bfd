import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { cls } from '../../ui/class-names.ts';
import { NativeSelect } from '../../ui/native-select.tsx';
import { Card } from '../../ui/page.tsx';
import { RadioGroup } from '../../ui/radio-group.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { workspacesQuery } from '../promote/queries.ts';
import { withValue } from '../setup/parts.ts';
import type { Settings } from './make-workspace.ts';
import styles from './workspaces.module.css';

const KINDS = [
  { id: 'live', name: 'Live', note: 'For real people: messages are sent over its accounts.' },
  {
    id: 'test',
    name: 'Test environment',
    note: 'For trying things out: messages stay in the inbox and are not sent.',
  },
] as const;

/** The same settings of a workspace that people rely on, or that is there to try things in. */
const becoming = (kind: 'live' | 'test', before: Settings): Settings =>
  kind === 'test'
    ? { ...before, environment: kind }
    : ['environment', 'of', 'allow_real_accounts'].reduce((body, key) => withValue(body, [key], undefined), before);

/** Whether it reaches real people: for those who decide about people, and nobody else. */
export function Environment({
  workspace,
  body,
  isOff,
  onChange,
}: {
  readonly workspace: string;
  readonly body: Settings;
  readonly isOff: boolean;
  readonly onChange: (change: (before: Settings) => Settings) => void;
}): ReactNode {
  const off = useMay('people', workspace);
  const { data } = useQuery(workspacesQuery);
  const { environment = 'live', of = '', allow_real_accounts: isReal = false } = body;
  const isTest = environment === 'test';
  const live = (data?.items ?? [])
    .filter((one) => one.workspace !== workspace && one.body.environment !== 'test')
    .map((one) => one.workspace);
  const options = ['', ...new Set([...(of === '' ? [] : [of]), ...live])];
  const isFixed = isOff || off !== null;
  return (
    <Card title="Environment">
      <div className={cls(styles.form)}>
        {!isOff && off !== null && <p className={cls(styles.quiet)}>{off}</p>}
        <RadioGroup
          label="Purpose"
          options={KINDS}
          chosen={environment}
          isDisabled={isFixed}
          onChoose={(kind) => onChange((before) => becoming(kind, before))}
        />
        {isTest && (
          <>
            <NativeSelect
              label="Test environment of"
              options={options.map((id) => ({ id, name: id === '' ? 'no workspace' : id }))}
              value={of}
              isDisabled={isFixed}
              onChange={(id) => onChange((before) => withValue(before, ['of'], id === '' ? undefined : id))}
              note="Changes made here can be promoted to it."
            />
            <Checkbox
              isOn={isReal}
              isDisabled={isFixed}
              onChange={(isOn) => onChange((before) => withValue(before, ['allow_real_accounts'], isOn || undefined))}
            >
              Send real messages anyway
            </Checkbox>
            {isReal && (
              <p role="status" className={cls(styles.warning)}>
                After you publish this change, messages of this test environment reach real people, through the accounts
                of the workspace and of the deployment.
              </p>
            )}
          </>
        )}
      </div>
    </Card>
  );
}
