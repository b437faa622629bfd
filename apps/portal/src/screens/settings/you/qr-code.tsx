import { generate } from 'lean-qr';
import type { ReactNode } from 'react';
import { cls } from '../../../ui/class-names.ts';
import styles from '../settings.module.css';

/** In modules: what readers need around the code. */
const QUIET_ZONE = 4;

/** A QR code, drawn by the page itself: what it holds is asked of nobody. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const code = generate(text);
  const cells = Array.from({ length: code.size * code.size }, (_, at) => [at % code.size, Math.floor(at / code.size)]);
  const path = cells
    .filter(([x = 0, y = 0]) => code.get(x, y))
    .map(([x, y]) => `M${x} ${y}h1v1h-1z`)
    .join('');
  const side = code.size + 2 * QUIET_ZONE;
  return (
    <svg
      role="img"
      aria-label={label}
      className={cls(styles.qr)}
      viewBox={`${-QUIET_ZONE} ${-QUIET_ZONE} ${side} ${side}`}
      shapeRendering="crispEdges"
    >
      <path d={path} className={cls(styles.modules)} />
    </svg>
  );
}
