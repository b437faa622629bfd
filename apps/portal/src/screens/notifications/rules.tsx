import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Field } from '../../ui/field.tsx';
import { Card, Rows } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import { counted } from '../drafts/change-words.ts';
import { NotificationFrame, type NotificationDraft } from './notification-frame.tsx';
import { usualAddresses } from './usual-addresses.ts';
import { rulesOf, ruleWords, type NotificationBody } from './sentence.ts';
import styles from './notifications.module.css';

/** When a notification fires and whom it tells: its rules, each a sentence. */
export function NotificationRules(): ReactNode {
  const { w, n } = useParams({ from: '/workspaces/$w/notifications/$n/rules' });
  return (
    <NotificationFrame w={w} n={n}>
      {(draft) => (
        <>
          {rulesOf(draft.body).length === 0 && <p>No rule yet: nothing can fire. Add one below.</p>}
          {rulesOf(draft.body).length > 0 && (
            <Rows label="Rules">
              {rulesOf(draft.body).map(([name, rule]) => (
                <li key={name} className={cls(styles.row)}>
                  <div className={cls(styles.name)}>
                    <h2>
                      <Link to="/workspaces/$w/notifications/$n/rules/$r" params={{ w, n, r: name }}>
                        {name}
                      </Link>
                    </h2>
                    {rule['enabled'] === false && <Lamp tone="none">Off</Lamp>}
                    {draft.isTried && draft.faultsAt(`rules.${name}`).length > 0 && (
                      <Lamp tone="bad">{counted(draft.faultsAt(`rules.${name}`).length, 'mistake')}</Lamp>
                    )}
                  </div>
                  <p className={cls(styles.sentence)}>{ruleWords(draft.body, rule)}</p>
                </li>
              ))}
            </Rows>
          )}
          <AddRule draft={draft} />
        </>
      )}
    </NotificationFrame>
  );
}

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

function AddRule({ draft }: { readonly draft: NotificationDraft }): ReactNode {
  const [name, setName] = useState('');
  const [isTried, setTried] = useState(false);
  const navigate = useNavigate();
  const { workspace: w, name: n, body, change } = draft;
  const fault = !NAME.test(name)
    ? 'Use small letters, digits and hyphens, such as paid or first-order.'
    : Object.hasOwn(body.rules ?? {}, name)
      ? `There is a rule ${name} already.`
      : null;
  const add = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (fault !== null || draft.off !== null) return;
    change((before) => ({ ...before, rules: { ...before.rules, [name]: newRule(before) } }));
    void navigate({ to: '/workspaces/$w/notifications/$n/rules/$r', params: { w, n, r: name } });
  };
  return (
    <Card title="Add a rule">
      <form className={cls(styles.line)} onSubmit={add}>
        <Field
          label="Name"
          isMono
          autoComplete="off"
          placeholder="paid"
          value={name}
          onChange={setName}
          fault={isTried ? fault : null}
        />
        <Button type="submit" off={draft.off}>
          Add the rule
        </Button>
      </form>
    </Card>
  );
}

type Rule = NonNullable<NotificationBody['rules']>[string];

/** Begins from the rule that is there: the same stream, the same people. */
function newRule(body: NotificationBody): Rule {
  const [other] = Object.values(body.rules ?? {});
  const recipients = other?.recipients ?? {
    from: 'event' as const,
    to: usualAddresses(body.channels),
    unique_id: 'event_id',
  };
  return { ...(other?.stream !== undefined && { stream: other.stream }), recipients };
}
