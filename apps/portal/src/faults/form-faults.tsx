import { lazy, Suspense, type ReactNode } from 'react';
import { useFaultsShown } from '../ui/held-fault.tsx';
import type { Fault } from './fault-list.tsx';

/** Comes with the first fault that is shown: a page without one does not wait for it. */
const FaultList = lazy(async () => ({ default: (await import('./fault-list.tsx')).FaultList }));

/** Faults below the fields of a form: shown once a field was left or publishing was tried. */
export function FormFaults({ faults }: { readonly faults: readonly Fault[] }): ReactNode {
  const isShown = useFaultsShown();
  if (!isShown || faults.length === 0) return null;
  return (
    <Suspense fallback={null}>
      <FaultList faults={faults} />
    </Suspense>
  );
}
