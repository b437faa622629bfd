import { X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import type { EditedDraft } from '../../api/use-draft.ts';
import { faultText } from '../../faults/fault-text.ts';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Field } from '../../ui/field.tsx';
import { Card, Quiet } from '../../ui/page.tsx';
import { nameFault, textAt, withText, withValue, type Part } from '../setup/parts.ts';
import type { Settings } from './make-workspace.ts';
import styles from './workspaces.module.css';

type Props = {
  readonly body: Settings;
  readonly isOff: boolean;
  readonly faultsAt: EditedDraft<'workspace'>['faultsAt'];
  readonly onChange: (change: (before: Settings) => Settings) => void;
};

const partsOf = (category: string): readonly Part[] => [
  { path: ['categories', category, 'name'], kind: 'text', label: 'Name for people' },
  { path: ['categories', category, 'description'], kind: 'text', label: 'Description' },
];

/** What people can opt out of together. */
export function Categories({ body, isOff, faultsAt, onChange }: Props): ReactNode {
  const [name, setName] = useState('');
  const names = Object.keys(body.categories ?? {});
  const fault = nameFault(name, names);
  const add = (): void => {
    if (name === '' || fault !== null) return;
    // An empty category says enough: its name is all that people see.
    onChange((before) => ({ ...before, categories: { ...before.categories, [name]: {} } }));
    setName('');
  };
  const write = (part: Part, text: string): void =>
    onChange((before) => {
      const next = withText(before, part, text) as Settings;
      const [, category = ''] = part.path;
      // Without its last words it is still there.
      return {
        ...next,
        categories: { ...before.categories, ...next.categories, [category]: next.categories?.[category] ?? {} },
      };
    });
  return (
    <Card title="Categories">
      <div className={cls(styles.form)}>
        <p className={cls(styles.quiet)}>
          Groups of notifications that people can opt out of. Each notification chooses its category.
        </p>
        {names.map((category) => (
          <div key={category} role="group" aria-label={`Category ${category}`} className={cls(styles.category)}>
            <div className={cls(styles.headline)}>
              <code>{category}</code>
              <Button
                kind="quiet"
                isIcon
                isDisabled={isOff}
                aria-label={`Remove the category ${category}`}
                onPress={() => onChange((before) => withValue(before, ['categories', category], undefined))}
              >
                <X size={16} aria-hidden />
              </Button>
            </div>
            {partsOf(category).map((part) => (
              <Field
                key={part.label}
                label={part.label}
                isDisabled={isOff}
                value={textAt(body, part)}
                onChange={(text) => write(part, text)}
                fault={faultsAt(part.path.join('.')).map(faultText)[0] ?? null}
              />
            ))}
            {body.categories?.[category]?.was && (
              <Quiet>
                Former names: {body.categories[category].was.join(', ')}. People who opted out of these names stay opted
                out.
              </Quiet>
            )}
          </div>
        ))}
        {!isOff && (
          <div className={cls(styles.line)}>
            <Field label="New category" isMono autoComplete="off" value={name} onChange={setName} fault={fault} />
            <Button isDisabled={name === '' || fault !== null} onPress={add}>
              Add the category
            </Button>
          </div>
        )}
      </div>
    </Card>
  );
}
