/** What counts where a workspace names none. */
const USUAL = 'UTC';

/** Zones as this browser knows them; the one that counts by itself first. One that it does not know is offered where it is chosen. */
export function zoneOptions(chosen: string): readonly { readonly id: string; readonly name: string }[] {
  const zones = Intl.supportedValuesOf('timeZone').filter((zone) => zone !== USUAL);
  const other = chosen === '' || chosen === USUAL || zones.includes(chosen) ? [] : [chosen];
  return [{ id: USUAL, name: USUAL }, ...other.map(asOption), ...zones.map(asOption)];
}
const asOption = (zone: string): { readonly id: string; readonly name: string } => ({
  id: zone,
  name: zone.replaceAll('_', ' '),
});

/** Where this browser is. */
export const ownZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone || USUAL;
