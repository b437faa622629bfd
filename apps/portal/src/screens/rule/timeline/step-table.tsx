import { X } from 'lucide-react';
import { Fragment, type ReactNode } from 'react';
import { Button } from '../../../ui/button.tsx';
import { cls } from '../../../ui/class-names.ts';
import { Part } from '../../../ui/part.tsx';
import { lazyPart } from '../../../ui/part.tsx';
import rule from '../rule.module.css';
import { decisionsOf, labelOf, summaryOf, timeOf, type Step, type TimelineRow } from './steps.ts';
import styles from './timeline.module.css';

const TestedRecipients = lazyPart(() =>
  import('../tested-recipients.tsx').then(({ TestedRecipients: loaded }) => loaded),
);

export type ShownRows = {
  readonly rows: readonly TimelineRow[];
  /** Index of the row whose values are shown. Null: all are closed. */
  readonly opened: number | null;
  readonly onOpen: (place: number | null) => void;
  readonly clock: (at: number | string) => string;
};

/** Events and deadlines one below the other. A row opens its values, decisions and messages. */
export function StepTable({
  rows,
  opened,
  onOpen,
  clock,
  onRemove,
  renderEditor,
}: ShownRows & {
  readonly onRemove: (key: number) => void;
  /** Draws the body of a planned event that is typed. */
  readonly renderEditor: (row: TimelineRow) => ReactNode;
}): ReactNode {
  return (
    <ol aria-label="Timeline" className={cls(styles.rows)}>
      {rows.map((row, place) => {
        const { step } = row;
        const what = row.kind === 'deadline' ? 'The deadline passes' : labelOf(row.planned);
        const time = clock(timeOf(row));
        return (
          <li key={row.kind === 'event' ? `event ${row.planned.key}` : `deadline ${place}`} className={cls(styles.row)}>
            <time className={cls(styles.time)}>{time}</time>
            <span className={cls(styles.what)}>{what}</span>
            {step === null ? (
              <span className={cls(styles.quiet)}>Not run yet</span>
            ) : (
              <button
                type="button"
                aria-expanded={opened === place}
                className={cls(styles.summary, step.fired && styles.fires)}
                onClick={() => onOpen(opened === place ? null : place)}
              >
                {summaryOf(step, clock)}
              </button>
            )}
            {row.kind === 'event' && (
              <Button
                kind="quiet"
                isIcon
                aria-label={`Remove the event at ${time}`}
                onPress={() => onRemove(row.planned.key)}
              >
                <X size={16} aria-hidden />
              </Button>
            )}
            {renderEditor(row)}
            {step !== null && opened === place && <StepDetails step={step} clock={clock} />}
          </li>
        );
      })}
    </ol>
  );
}

/** Values of the rule's expressions, its decisions, and what people would get. */
function StepDetails({ step, clock }: Pick<ShownRows, 'clock'> & { readonly step: Step }): ReactNode {
  const fields = [...new Set(step.explained.map(({ field }) => field))];
  const decisions = decisionsOf(step, clock);
  return (
    <div className={cls(styles.details)}>
      {decisions.length > 0 && (
        <ul aria-label="Decisions">
          {decisions.map((words) => (
            <li key={words}>{words}.</li>
          ))}
        </ul>
      )}
      {fields.map((field) => (
        <Fragment key={field}>
          <h3>
            Values of <code>{field}</code>
          </h3>
          <ul aria-label={`Values of ${field}`} className={cls(rule.parts)}>
            {step.explained
              .filter((part) => part.field === field)
              .map(({ source, depth, value }, at) => (
                // Two parts may have the same source, so the index is the key.
                <li key={`${at} ${source}`} style={{ paddingLeft: 8 + depth * 16 }}>
                  <code>{source}</code>
                  <code>{value}</code>
                </li>
              ))}
          </ul>
        </Fragment>
      ))}
      {decisions.length === 0 && fields.length === 0 && !step.fired && <p>The rule makes no decision at this step.</p>}
      <Part>
        <TestedRecipients tested={step} />
      </Part>
    </div>
  );
}
