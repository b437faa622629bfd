import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { Checkbox as AriaCheckbox, Switch } from 'react-aria-components';
import { cls } from './class-names.ts';
import styles from './toggle.module.css';

type Props = {
  readonly children: ReactNode;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly isDisabled?: boolean;
};

/** A yes or no that counts once the form around it is sent. */
export function Checkbox({ children, isOn, onChange, isDisabled = false }: Props): ReactNode {
  return (
    <AriaCheckbox isSelected={isOn} onChange={onChange} isDisabled={isDisabled} className={cls(styles.line)}>
      <span className={cls(styles.box)} aria-hidden>
        {isOn && <Check size={14} strokeWidth={3} />}
      </span>
      <span>{children}</span>
    </AriaCheckbox>
  );
}

/** A yes or no that counts at once. */
export function Toggle({ children, isOn, onChange, isDisabled = false }: Props): ReactNode {
  return (
    <Switch isSelected={isOn} onChange={onChange} isDisabled={isDisabled} className={cls(styles.line)}>
      <span className={cls(styles.track)} aria-hidden>
        <span className={cls(styles.knob)} />
      </span>
      <span>{children}</span>
    </Switch>
  );
}
