import type { GatewaySettings } from './config.ts';
import type { FreshSecrets } from './fresh-secrets.ts';
import type { Freshness } from './configuration-freshness.ts';
import type { IntakeAdmission } from './intake-admission.ts';
import type { KeyUses } from './key-uses.ts';

/** The parts of a gateway that its intakes share. */
export type IntakeParts = {
  readonly settings: GatewaySettings;
  readonly freshness: Freshness;
  readonly keyUses: KeyUses;
  readonly intakeAdmission: IntakeAdmission;
  readonly secretOf: FreshSecrets;
};
