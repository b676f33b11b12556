"""Pictures of one line of text in, text out, for the PP-OCRv6 recogniser.

usage: ocr.py prepare (--text TEXT | --picture FILE) --input x.npy [--png picture.png]
       ocr.py read MODEL --input x.npy --output y.npy [--json]

`prepare` draws the text (or fits the picture) into 320x48 pixels, scaled to ±1, as the model takes it. `read` decodes the
model's output (greedy CTC: best class per column, repeats and blanks dropped) and compares it with ONNX Runtime's.
"""
import argparse
import json
import sys

import numpy as np

HEIGHT, WIDTH = 48, 320


def missing(text, font):
    """The characters of the text that the font draws as its box for what it does not have."""
    box = bytes(font.getmask("\U0010FFFF"))
    return sorted({c for c in text if not c.isspace() and bytes(font.getmask(c)) == box})


def font_of(name, size):
    """The font with Pillow's own layout: another one, where a machine has it, draws other pixels."""
    from PIL import ImageFont
    return ImageFont.truetype(name, size, layout_engine=ImageFont.Layout.BASIC)


def draw(text):
    from PIL import Image, ImageDraw
    name = "DejaVuSans.ttf"
    if without := missing(text, font_of(name, 34)):
        print(f"warning: {name} has no picture of {' '.join(without)}, which is drawn as a box; draw the text with another font "
              "and give the file with --picture", file=sys.stderr)
    for size in range(34, 9, -1):  # the largest size that fits the line
        font = font_of(name, size)
        left, top, right, bottom = font.getbbox(text)
        if right - left <= WIDTH - 12:
            break
    else:
        sys.exit(f"error: the text has {len(text)} characters, too many for a line of {WIDTH} pixels; use a shorter one")
    picture = Image.new("RGB", (WIDTH, HEIGHT), "white")
    ImageDraw.Draw(picture).text(((WIDTH - right - left) / 2, (HEIGHT - bottom - top) / 2), text, "black", font)
    return picture


def fit(path):
    from PIL import Image, UnidentifiedImageError
    try:
        picture = Image.open(path).convert("RGBA")
    except (OSError, UnidentifiedImageError) as error:
        sys.exit(f"error: '{path}' is no picture that can be read: {error}")
    width = max(1, round(picture.width * HEIGHT / picture.height))
    if width > 2 * WIDTH:
        sys.exit(f"error: '{path}' is {picture.width}x{picture.height}, too long for a line of {WIDTH}x{HEIGHT}; cut it into shorter ones")
    paper = Image.new("RGBA", picture.size, "white")  # behind what is transparent
    picture = Image.alpha_composite(paper, picture).convert("RGB")
    width = min(WIDTH, width)
    canvas = Image.new("RGB", (WIDTH, HEIGHT), "white")
    canvas.paste(picture.resize((width, HEIGHT), Image.Resampling.BILINEAR))
    return canvas


def pixels(picture):
    """The picture as the model takes it: channels first, scaled to ±1; it was trained on blue, green, red."""
    values = np.asarray(picture, np.float32)[:, :, ::-1]
    return np.ascontiguousarray((values / 127.5 - 1).transpose(2, 0, 1)[None])


def prepare(arguments):
    picture = fit(arguments.picture) if arguments.picture else draw(arguments.text)
    if arguments.png:
        picture.save(arguments.png)
    np.save(arguments.input, pixels(picture))


def session(model):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def decode(scores, alphabet):
    best = scores[0].argmax(axis=-1)
    kept = [c for i, c in enumerate(best) if c != 0 and (i == 0 or c != best[i - 1])]
    return "".join(alphabet[c] for c in kept)


def read(arguments):
    reference = session(arguments.model)
    metadata = reference.get_modelmeta().custom_metadata_map
    alphabet = [""] + metadata["character"].splitlines() + [" "]  # class 0 is the blank, the last is the space
    output = np.load(arguments.output)
    expected = reference.run(None, {reference.get_inputs()[0].name: np.load(arguments.input)})[0]
    if output.shape != expected.shape:
        sys.exit(f"error: expected an output of shape {expected.shape} but got {output.shape}")
    error = float(np.abs(output.astype(np.float64) - expected).max() / np.abs(expected).max())
    result = {
        "text": decode(output, alphabet),
        "onnxruntime_text": decode(expected, alphabet),
        "max_error_of_largest_value": error,
        "columns_agree": float((output.argmax(-1) == expected.argmax(-1)).mean()),
    }
    if arguments.json:
        print(json.dumps(result, ensure_ascii=False))
    else:
        print(f"text read          {result['text']}")
        same = "the same text" if result["text"] == result["onnxruntime_text"] else result["onnxruntime_text"]
        print(f"ONNX Runtime       reads {same}; largest difference {error:.1e} of the largest value; "
              f"{100 * result['columns_agree']:.1f} % of the columns agree")
    return 0 if error <= 1e-4 and result["text"] == result["onnxruntime_text"] else 5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("prepare")
    source = first.add_mutually_exclusive_group(required=True)
    source.add_argument("--text")
    source.add_argument("--picture")
    first.add_argument("--input", required=True)
    first.add_argument("--png")
    second = commands.add_parser("read")
    second.add_argument("model")
    second.add_argument("--input", required=True)
    second.add_argument("--output", required=True)
    second.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    sys.exit(prepare(arguments) if arguments.command == "prepare" else read(arguments))


if __name__ == "__main__":
    main()
