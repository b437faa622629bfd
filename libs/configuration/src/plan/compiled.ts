import { CHANNEL_NAMES, variantsOf } from '@carillon/domain/channels';
import type { Difference, TemplateBody } from '@carillon/domain/configuration';
import { pathText } from '../value-path.ts';

/** Returns the changes of a template without compiled parts, which nobody wrote. */
export function withoutCompiled(
  body: TemplateBody,
  differences: readonly Difference[],
): { readonly differences: readonly Difference[]; readonly notes?: readonly string[] } {
  const compiled = new Set(
    CHANNEL_NAMES.flatMap((channel) =>
      variantsOf(body, channel).flatMap(({ locale, sources }) =>
        Object.keys(sources).map((part) => pathText([channel, ...(locale === null ? [] : ['locales', locale]), part])),
      ),
    ),
  );
  const written = differences.filter(({ path }) => !compiled.has(path));
  if (written.length > 0 || differences.length === 0) return { differences: written };
  return { differences: written, notes: ['its MJML is compiled again'] };
}
