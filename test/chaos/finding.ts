/**
 * A broken promise. `lost`: an acknowledged event or change of which nothing tells any more. `twice`: somebody was told
 * twice. `asked`: a partner was asked again without need. `stuck`: nothing goes on by itself. `late`: it went on, and took longer than is promised. `doubt`: a doubt
 * without a call of its own that was cut off or never answered. `untrue`: the product says other than mail server or partner. `gap`: the record of what was done has
 * a hole, or tells of something that has no cause.
 */
export type Finding = {
  readonly kind: 'lost' | 'twice' | 'asked' | 'stuck' | 'late' | 'doubt' | 'untrue' | 'gap';
  readonly what: string;
};
