import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Loading, Problem } from '../../../ui/answers.tsx';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Code, Id } from '../../../ui/text.tsx';
import { caseYaml, type TestCase } from './case-yaml.ts';
import { readBodies } from './event-bodies.ts';
import type { Plan } from './plan.ts';

/** A test that has run, to be written as a case. */
export type SavedTest = Omit<TestCase, 'name' | 'events' | 'until'> & {
  readonly plan: Plan;
  readonly sample: readonly string[];
};

/** Shows a test as a file that `carillon test` runs. Its messages are those that the rule makes now. */
export function SaveAsTest({
  workspace,
  test,
  onClose,
}: {
  readonly workspace: string;
  readonly test: SavedTest;
  readonly onClose: () => void;
}): ReactNode {
  const { plan, sample, ...given } = test;
  const [name, setName] = useState('notifies as on the test bench');
  const bodies = useQuery({
    queryKey: ['timeline', 'bodies', workspace, plan, sample],
    queryFn: () => readBodies(workspace, plan, sample),
    retry: false,
  });
  const events = plan.events.map(({ at }, place) => ({ at, text: bodies.data?.[place] ?? '' }));
  return (
    <Dialog
      title="Save as test"
      isOpen
      onClose={onClose}
      foot={
        <Button kind="main" onPress={onClose}>
          Done
        </Button>
      }
    >
      <Field label="Name of the case" autoFocus value={name} onChange={setName} />
      {bodies.error && <Problem error={bodies.error} />}
      {!bodies.data && !bodies.error && <Loading what="the events" rows={3} />}
      {bodies.data && (
        <>
          <Code text={textOf({ ...given, name: name.trim() || 'case', events, until: plan.until })} what="the case" />
          <p>
            Save it as <Id>{`workspaces/${workspace}/tests/${given.rule}.yaml`}</Id> in the folder of your configuration
            and run it with <Id>npx carillon test</Id>. The test fails if the rule makes other messages.
          </p>
        </>
      )}
    </Dialog>
  );
}

/** The file, or why there is none. */
function textOf(test: TestCase): string {
  try {
    return caseYaml(test);
  } catch (error) {
    return `# An event or answer is no JSON: ${(error as Error).message}`;
  }
}
