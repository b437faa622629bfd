import { api } from './client.ts';
import type { paths } from './management-api.generated.ts';

type Reached = paths['/v1/workspaces/{workspace}/onboarding']['post']['requestBody']['content']['application/json'];
export type GuideStep = Reached['step'];

type Begun = { readonly at: number; readonly clicks: number; readonly told: readonly GuideStep[] };
const PLACE = 'carillon-first-steps';

function read(): Begun | null {
  try {
    return JSON.parse(sessionStorage.getItem(PLACE) ?? 'null') as Begun | null;
  } catch {
    // A browser that keeps nothing measures nothing.
    return null;
  }
}
function write(begun: Begun): void {
  try {
    sessionStorage.setItem(PLACE, JSON.stringify(begun));
  } catch {
    // Said above.
  }
}

/** Somebody came by a link: from now on this tab counts how long it takes them. */
export const beginFirstSteps = (): void => write({ at: Date.now(), clicks: 0, told: [] });

/** Counts the clicks of whoever came by a link. */
export function countClicks(): void {
  document.addEventListener(
    'click',
    () => {
      const begun = read();
      if (begun) write({ ...begun, clicks: begun.clicks + 1 });
    },
    true,
  );
}

/** Reports a step of the guide once. It is a statistic for owners, so a failed call is ignored. */
export function reachStep(workspace: string, step: GuideStep): void {
  const begun = read();
  if (!begun || begun.told.includes(step)) return;
  write({ ...begun, told: [...begun.told, step] });
  const body = { step, seconds: Math.max(0, Math.round((Date.now() - begun.at) / 1_000)), clicks: begun.clicks };
  api.POST('/v1/workspaces/{workspace}/onboarding', { params: { path: { workspace } }, body }).catch(() => undefined);
}
