import { Check, Copy as CopyIcon } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { Button } from './button.tsx';

/** In milliseconds: long enough to be read. */
const SAID_FOR = 2_000;

/** Copies a text and says so where it stands. */
export function Copy({
  text,
  what,
  isIcon = false,
  onCopied,
}: {
  readonly text: string;
  /** What is copied, for who cannot see it: `the key`. */
  readonly what: string;
  readonly isIcon?: boolean;
  readonly onCopied?: () => void;
}): ReactNode {
  const [said, setSaid] = useState<'copied' | 'refused' | null>(null);
  useEffect(() => {
    if (said === null) return undefined;
    const timer = setTimeout(() => setSaid(null), SAID_FOR);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => {
        setSaid('copied');
        onCopied?.();
      },
      // Browsers allow it on secure pages alone.
      () => setSaid('refused'),
    );
  };
  const words = said === null ? 'Copy' : said === 'copied' ? 'Copied' : 'Select and copy it by hand';
  return (
    <Button
      kind="quiet"
      isIcon={isIcon && said !== 'refused'}
      onPress={copy}
      aria-label={said === null ? `Copy ${what}` : words}
    >
      {said === 'copied' ? <Check size={16} aria-hidden /> : <CopyIcon size={16} aria-hidden />}
      {!(isIcon && said !== 'refused') && words}
    </Button>
  );
}
