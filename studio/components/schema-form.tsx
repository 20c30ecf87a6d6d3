/** Form of a JSON schema. Unsupported parts are edited as JSON; the server validates the input. */
import { useState } from "preact/hooks";
import { isRecord } from "../../src/models/json.js";
import type { PathStep } from "../../src/models/value-path.js";
import type { Draft } from "../state/draft.js";
import { anyText, anyValue, blankOf, type Field, type Shape } from "../state/shape.js";
import { strings } from "../strings.js";
import { JsonEditor } from "./json-editor.js";
import { keyText, visible } from "./text.js";

/** Errors reported by the server, by JSON-encoded field path. */
export type FieldFaults = ReadonlyMap<string, string>;

interface FormProps {
  draft: Draft;
  faults: FieldFaults;
  /** Prefix of field ids. */
  id: string;
}

interface PartProps extends FormProps {
  shape: Shape;
  path: readonly PathStep[];
  label: string;
  isRequired: boolean;
  value: unknown;
}

export function SchemaForm({ shape, ...form }: FormProps & { shape: Shape }) {
  const value = form.draft.value.value;
  return (
    <div class="form">
      {(shape.fields ?? []).map((field) => (
        <Part key={field.name} {...form} {...partOf(field, [], value)} />
      ))}
    </div>
  );
}

const partOf = ({ name, shape, isRequired }: Field, path: readonly PathStep[], whole: unknown) => ({
  shape,
  isRequired,
  path: [...path, name],
  label: name,
  value: isRecord(whole) && Object.hasOwn(whole, name) ? whole[name] : undefined,
});

function Part(props: PartProps) {
  const { kind } = props.shape;
  if (kind === "object") return <ObjectPart {...props} />;
  if (kind === "list") return <ListPart {...props} />;
  return <PlainPart {...props} />;
}

function ObjectPart({ shape, path, label, isRequired, value, ...form }: PartProps) {
  const isThere = isRecord(value);
  return (
    <fieldset class="group">
      <legend>{keyText(label)}</legend>
      <Hint shape={shape} path={path} {...form} />
      {isThere || isRequired ? (
        (shape.fields ?? []).map((field) => (
          <Part key={field.name} {...form} {...partOf(field, path, value)} />
        ))
      ) : (
        <Add onAdd={() => form.draft.setAt(path, blankOf(shape))} label={label} />
      )}
      {isThere && !isRequired && <LeaveOut onPress={() => form.draft.setAt(path, undefined)} label={label} />}
    </fieldset>
  );
}

function ListPart({ shape, path, label, isRequired, value, ...form }: PartProps) {
  const { item } = shape;
  const items: unknown[] = Array.isArray(value) ? value : [];
  if (!item) return null;
  return (
    <fieldset class="group">
      <legend>{keyText(label)}</legend>
      <Hint shape={shape} path={path} {...form} />
      {items.map((each, index) => (
        <div class="item" key={index}>
          <Part
            {...form}
            shape={item}
            path={[...path, index]}
            label={`${label} ${index + 1}`}
            isRequired
            value={each}
          />
          <LeaveOut
            isRemoval
            onPress={() => form.draft.setAt([...path, index], undefined)}
            label={`${label} ${index + 1}`}
          />
        </div>
      ))}
      <Add onAdd={() => form.draft.setAt([...path, items.length], blankOf(item))} label={label} />
      {Array.isArray(value) && !isRequired && (
        <LeaveOut onPress={() => form.draft.setAt(path, undefined)} label={label} />
      )}
    </fieldset>
  );
}

const Add = ({ onAdd, label }: { onAdd: () => void; label: string }) => (
  <button
    type="button"
    class="small"
    onClick={onAdd}
    aria-label={`${strings.composer.add} ${keyText(label)}`}
  >
    {strings.composer.add}
  </button>
);

function LeaveOut({
  onPress,
  label,
  isRemoval = false,
}: {
  onPress: () => void;
  label: string;
  isRemoval?: boolean;
}) {
  const text = isRemoval ? strings.composer.remove : strings.composer.leaveOut;
  return (
    <button type="button" class="small" onClick={onPress} aria-label={`${text} ${keyText(label)}`}>
      {text}
    </button>
  );
}

const idOf = (id: string, path: readonly PathStep[]): string => `${id}-${path.join("-")}`;

function Hint({ shape, path, faults, id }: Pick<PartProps, "shape" | "path" | "faults" | "id">) {
  const fault = faults.get(JSON.stringify(path));
  return (
    <>
      {shape.description !== undefined && <p class="hint dim">{visible(shape.description)}</p>}
      {fault !== undefined && (
        <p class="hint bad" id={`${idOf(id, path)}-fault`}>
          {visible(fault)}
        </p>
      )}
    </>
  );
}

function PlainPart(props: PartProps) {
  const { shape, path, label, isRequired, faults, id } = props;
  const fault = faults.get(JSON.stringify(path));
  const name = idOf(id, path);
  return (
    <div class="field">
      <label for={name}>
        {keyText(shape.title ?? label)}
        {isRequired && (
          <span class="dim" aria-hidden="true">
            {" *"}
          </span>
        )}
      </label>
      <Control
        {...props}
        attributes={{
          id: name,
          "aria-required": isRequired,
          "aria-invalid": fault !== undefined,
          "aria-describedby": fault === undefined ? undefined : `${name}-fault`,
        }}
      />
      <Hint shape={shape} path={path} faults={faults} id={id} />
    </div>
  );
}

interface ControlProps extends PartProps {
  attributes: {
    id: string;
    "aria-required": boolean;
    "aria-invalid": boolean;
    "aria-describedby": string | undefined;
  };
}

function Control(props: ControlProps) {
  const { shape, path, draft, value, isRequired, attributes } = props;
  if (shape.kind === "choice" || shape.kind === "boolean") return <Choice {...props} />;
  if (shape.kind === "number" || shape.kind === "any") return <Written {...props} />;
  const text = typeof value === "string" ? value : "";
  const rows = Math.min(8, Math.max(1, text.split("\n").length));
  return (
    <textarea
      {...attributes}
      rows={rows}
      value={text}
      onInput={({ currentTarget: { value: next } }) =>
        draft.setAt(path, next === "" && !isRequired ? undefined : next)
      }
    />
  );
}

function Choice({ shape, path, draft, value, isRequired, attributes }: ControlProps) {
  const given = shape.kind === "boolean" ? [true, false] : (shape.choices ?? []);
  const choices = [...given, ...(shape.isNullable ? [null] : [])];
  const at = choices.findIndex((choice) => JSON.stringify(choice) === JSON.stringify(value));
  const needsBlank = !isRequired || at < 0;
  return (
    <select
      {...attributes}
      value={String(at)}
      onChange={({ currentTarget }) => draft.setAt(path, choices[Number(currentTarget.value)])}
    >
      {needsBlank && <option value="-1">{strings.composer.unset}</option>}
      {choices.map((choice, index) => (
        <option key={index} value={String(index)}>
          {choiceText(choice)}
        </option>
      ))}
    </select>
  );
}

function choiceText(choice: unknown): string {
  if (choice === null) return strings.composer.nothing;
  if (typeof choice === "boolean") return choice ? strings.composer.yes : strings.composer.no;
  return visible(typeof choice === "string" ? choice : JSON.stringify(choice));
}

/** Text form of a value; invalid text is kept as typed. */
function Written({ shape, path, draft, value, isRequired, attributes }: ControlProps) {
  const [text, setText] = useState<string | undefined>(undefined);
  const read = shape.kind === "number" ? numberOf(shape) : anyValue;
  const shown = text !== undefined && same(read(text), value) ? text : anyText(value);
  // It stays while the form is not shown.
  const unfit = draft.unfit.value.get(JSON.stringify(path));
  const isUnfit = unfit !== undefined;
  const write = (next: string) => {
    setText(next);
    const meant = read(next);
    if (meant instanceof Unfit) draft.refuse(path, next);
    else draft.setAt(path, meant === undefined && isRequired && shape.kind === "any" ? null : meant);
  };
  const written = unfit ?? shown;
  const onInput = ({ currentTarget }: { currentTarget: { value: string } }) => write(currentTarget.value);
  const hint = `${attributes.id}-unfit`;
  const invalid = isUnfit ? { ...attributes, "aria-invalid": true, "aria-describedby": hint } : attributes;
  if (shape.kind === "number")
    return (
      <>
        <input {...invalid} inputMode="decimal" value={written} onInput={onInput} />
        {isUnfit && (
          <p class="hint bad" id={hint}>
            {shape.isWhole ? strings.composer.notWhole : strings.composer.notNumber}
          </p>
        )}
      </>
    );
  const rows = Math.min(10, Math.max(1, written.split("\n").length));
  return (
    <textarea
      {...invalid}
      class="code"
      rows={rows}
      placeholder={strings.composer.any}
      value={written}
      onInput={onInput}
    />
  );
}

class Unfit {}

const numberOf =
  ({ isWhole }: Shape) =>
  (text: string): unknown => {
    if (text.trim() === "") return undefined;
    const number = Number(text.trim());
    return Number.isFinite(number) && (!isWhole || Number.isInteger(number)) ? number : new Unfit();
  };

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Edits a whole value as JSON, and shows the position of syntax errors. */
export function JsonBox({ id, label, draft }: { id: string; label: string; draft: Draft }) {
  const fault = draft.fault.value;
  return (
    <>
      <JsonEditor
        text={draft.text.value}
        label={label}
        isInvalid={fault !== undefined}
        fault={fault}
        faultId={`${id}-fault`}
        onText={(text) => draft.write(text)}
      />
      {fault && (
        <p class="hint bad" id={`${id}-fault`}>
          {strings.composer.fault(fault.line, fault.column)}
        </p>
      )}
    </>
  );
}
