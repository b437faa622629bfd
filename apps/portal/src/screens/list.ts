import type { Place, ScreenFacts } from '../screen.ts';
import { accountScreens } from './accounts/screens.ts';
import { cadenceScreens } from './cadence/screens.ts';
import { deliveryScreens } from './deliveries/screens.ts';
import { draftScreens } from './drafts/screens.ts';
import { erasureScreens } from './erasures/screens.ts';
import { inboxScreens } from './inbox/screens.ts';
import { integrationScreens } from './integrations/screens.ts';
import { suppressionAndOptOutScreens } from './suppressions-and-opt-outs/screens.ts';
import { notificationScreens } from './notifications/screens.ts';
import { overviewScreens } from './overview/screens.ts';
import { promoteScreens } from './promote/screens.ts';
import { ruleScreens } from './rule/screens.ts';
import { runScreens } from './runs/screens.ts';
import { settingsIndex, settingsScreens } from './settings/screens.ts';
import { signInScreens } from './sign-in/screens.ts';
import { streamScreens } from './streams/screens.ts';
import { templateScreens } from './templates/screens.ts';
import { versionScreens } from './versions/screens.ts';
import { whyScreens } from './why/screens.ts';
import { workspaceScreens } from './workspaces/screens.ts';

/** Screens right below the frame. */
export const MAIN_SCREENS = [
  ...overviewScreens,
  ...notificationScreens,
  ...ruleScreens,
  ...deliveryScreens,
  ...inboxScreens,
  ...whyScreens,
  ...erasureScreens,
  ...templateScreens,
  ...streamScreens,
  ...integrationScreens,
  ...accountScreens,
  ...cadenceScreens,
  ...suppressionAndOptOutScreens,
  ...versionScreens,
  ...draftScreens,
  ...runScreens,
  ...promoteScreens,
  ...workspaceScreens,
  ...signInScreens,
] as const;

/** Every screen. Routes, navigation, palette, help and tests read it; within a group of the navigation its order counts. */
export const SCREENS = [...MAIN_SCREENS, settingsIndex, ...settingsScreens] as const;
type Screen = (typeof SCREENS)[number];

/** A screen that declares this fact. */
export type ScreenWith<Fact extends keyof ScreenFacts> = {
  readonly path: Extract<Screen, Record<Fact, unknown>>['path'];
} & Required<Pick<ScreenFacts, Fact>>;

/** Returns the screens that declare this fact. */
export const screensWith = <Fact extends keyof ScreenFacts>(fact: Fact): readonly ScreenWith<Fact>[] =>
  SCREENS.filter((one) => fact in one) as unknown as readonly ScreenWith<Fact>[];

export const PLACES = screensWith('place');

/** Returns the screens in these groups of the navigation. */
export const placesIn = (...groups: readonly Place['in'][]): readonly ScreenWith<'place'>[] =>
  PLACES.filter(({ place }) => groups.includes(place.in));
