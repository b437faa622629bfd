import {
  asWritten,
  CHANNEL_NAMES,
  partPath,
  templateOf,
  variantsOf,
  type TemplateVariant,
} from '@carillon/domain/channels';
import type { TemplateBody } from '@carillon/domain/configuration';
import {
  assemble,
  originOf,
  placeAt,
  withoutPutIns,
  type Assembled,
  type IncludeFault,
  type TextOrigin,
} from '@carillon/domain/templates';
import type { CodedFault } from '@carillon/kernel';
import { isKind, type WantedResource } from '../resource.ts';
import type { ValuePath } from '../value-path.ts';
import type { Report, Spot } from './finding.ts';
import { checkName } from './names.ts';
import { checkPiece } from './check-includes.ts';
import type { CheckedAgainst, TemplateRemark } from './check-context.ts';

/**
 * Checks each part of a template as the renderer will read it: in every language, with layout and partials in place.
 */
export function checkTemplate(resource: WantedResource, around: TemplateSurroundings, report: Report): void {
  if (!isKind(resource, 'template')) return;
  for (const channel of CHANNEL_NAMES) {
    const base = templateOf(resource.body, channel);
    if (!base) continue;
    for (const variant of variantsOf(resource.body, channel)) {
      checkWhole(variant, base, report);
      checkVariant(resource, asWritten(variant), around, report);
    }
  }
}

/** Inputs for checking a template. */
export type TemplateSurroundings = Pick<CheckedAgainst, 'names' | 'includes' | 'templates' | 'reportOn' | 'current'>;

/** Where a language of a channel stands in the body of its template. */
const rootOf = ({ channel, locale }: TemplateVariant): ValuePath =>
  locale === null ? [channel] : [channel, 'locales', locale];

/** Checks that a language has every part of the template without language, so that no message mixes two languages. */
function checkWhole(variant: TemplateVariant, base: TemplateVariant, report: Report): void {
  const { locale } = variant;
  if (locale === null) return;
  for (const part of Object.keys(base.parts)) {
    if (variant.parts[part] !== undefined) continue;
    report.fault(
      rootOf(variant),
      {
        code: 'language_incomplete',
        facts: { language: locale, part },
      },
      'key',
    );
  }
}

function checkVariant(
  { ref, body }: WantedResource<'template'>,
  variant: TemplateVariant,
  around: TemplateSurroundings,
  report: Report,
): void {
  const root = rootOf(variant);
  const { layout } = variant;
  // A language has the layout of the template without one, if it names none itself.
  const layoutPath = [...(hasOwnLayout(body, variant) ? root : [variant.channel]), 'layout'];
  if (layout !== null)
    checkName(layoutPath, { kind: 'layout', workspace: ref.workspace, name: layout }, around, report);
  const assembled = assemble(variant, around.includes(ref.workspace));
  if (layout !== null && assembled.layout !== null && assembled.layoutFault) {
    const { part } = assembled.layoutFault;
    report.fault(layoutPath, { code: 'layout_incomplete', facts: { layout: assembled.layout, part } });
  }
  const at = new Reporting(ref, variant, assembled, around, report);
  for (const fault of assembled.faults) at.putInFault(fault);
  if (assembled.faults.length > 0 || assembled.layoutFault || !at.piecesAreWhole()) return;
  for (const fault of around.templates.check(assembled.template)) at.remark(fault, 'fault');
  for (const warning of around.templates.warnings(assembled.template)) at.remark(warning, 'warning');
  at.pagesInLayout();
}

/** The start of a whole HTML page. */
const PAGE_TAG = /<(?:!doctype|html|head|body)(?=[\s>])/i;

/** Whether a language names a layout of its own. */
function hasOwnLayout(body: TemplateBody, { channel, locale }: TemplateVariant): boolean {
  if (locale === null) return true;
  const { locales = {} }: { locales?: Readonly<Record<string, object>> } = body[channel] ?? {};
  return Object.hasOwn(locales[locale] ?? {}, 'layout');
}

type Remark = { readonly message: string; readonly fix: string; readonly missing?: string | undefined };

/** Returns a remark with its code. `within` is the layout or partial of the remark, or empty for the checked text. */
function codedRemark({ message, fix, missing }: Remark, within = ''): CodedFault {
  if (missing !== undefined) return { code: 'partial_unknown', facts: { partial: missing, within } };
  return { code: 'template_text', facts: { message, fix, within } };
}

/** Says of each mistake where it was written: in the template, in its layout or in a partial. */
class Reporting {
  readonly #ref: WantedResource<'template'>['ref'];
  readonly #variant: TemplateVariant;
  readonly #assembled: Assembled;
  readonly #around: TemplateSurroundings;
  readonly #report: Report;

  constructor(
    ref: WantedResource<'template'>['ref'],
    variant: TemplateVariant,
    assembled: Assembled,
    around: TemplateSurroundings,
    report: Report,
  ) {
    this.#ref = ref;
    this.#variant = variant;
    this.#assembled = assembled;
    this.#around = around;
    this.#report = report;
  }

  putInFault({ origin, at, message, fix, missing }: IncludeFault): void {
    this.#say(origin, placeAt(origin.source, at), { message, fix, missing }, 'fault');
  }

  /** A remark on the text that was put together. */
  remark({ part, line, column, message, fix }: TemplateRemark, as: 'fault' | 'warning'): void {
    const found = originOf(this.#assembled.pieces[part] ?? [], { line, column });
    if (!found) this.#own(part, { line, column }, { message, fix }, as);
    else this.#say(found.origin, placeAt(found.origin.source, found.at), { message, fix }, as);
  }

  /** Warns if a text within a layout is a whole HTML page, because the layout is one already. */
  pagesInLayout(): void {
    const { layout, pieces } = this.#assembled;
    for (const [part, list] of Object.entries(pieces)) {
      if (layout === null || !list.some(({ origin }) => origin.kind === 'layout')) continue;
      const own = list.find(({ origin }) => origin.kind === 'template')?.origin;
      const tag = own && PAGE_TAG.exec(own.source);
      if (!own || !tag) continue;
      const message = `The body has its own ${tag[0]}>, but it is put inside the layout ${layout}, which is a page already`;
      const fix = 'Remove <!doctype>, <html>, <head> and <body>, or choose no layout.';
      this.#own(part, placeAt(own.source, tag.index), { message, fix }, 'warning');
    }
  }

  /** Checks that each text of an assembled template is complete by itself. */
  piecesAreWhole(): boolean {
    let whole = true;
    for (const pieces of Object.values(this.#assembled.pieces)) {
      const own = pieces.find(({ origin }) => origin.kind === 'template')?.origin;
      if (!own || withoutPutIns(own.source) === pieces.map(({ text }) => text).join('')) continue;
      whole = checkPiece(own.source, this.#pathOf(own.part), this.#around.templates, this.#report) && whole;
      // Mistakes of a layout or partial are reported in its own file. The assembled text would only repeat them.
      const others = pieces.filter(({ origin }) => origin.kind !== 'template');
      whole =
        others.every(({ origin }) => this.#around.templates.piece(withoutPutIns(origin.source)).length === 0) && whole;
    }
    return whole;
  }

  #pathOf(part: string): ValuePath {
    return [...rootOf(this.#variant), ...partPath(part)];
  }

  #own(part: string, spot: Spot, remark: Remark, as: 'fault' | 'warning'): void {
    const coded = codedRemark(remark);
    const key = this.#variant.sources[part]?.key ?? part;
    if (as === 'fault') this.#report.fault(this.#pathOf(key), coded, spot);
    else this.#report.warn(this.#pathOf(key), coded, spot);
  }

  #say(origin: TextOrigin, spot: Spot, remark: Remark, as: 'fault' | 'warning'): void {
    if (origin.kind === 'template') return this.#own(origin.part, spot, remark, as);
    const { kind, name, part } = origin;
    const { workspace } = this.#ref;
    // A layout or partial outside the folder is reported where the template uses it.
    const isHere = this.#around.names(kind, workspace).includes(name);
    const report = isHere ? this.#around.reportOn({ kind, workspace, name }) : this.#report;
    const coded = codedRemark(remark, isHere ? '' : `${kind} ${name}`);
    const path = isHere ? [part] : [...rootOf(this.#variant), ...(kind === 'layout' ? ['layout'] : [])];
    const place = isHere ? spot : ('value' as const);
    if (as === 'fault') report.fault(path, coded, place);
    else report.warn(path, coded, place);
  }
}
