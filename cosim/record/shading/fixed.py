# SPDX-License-Identifier: BSD-2-Clause
"""The fixed functions of vertices as a shader: only what a shader puts out can be fed back.

What it says is what OpenGL 2.1 says of lighting, of generated coordinates and of fog; Mesa's
compiler makes of it what it makes of its own text of the same.
"""

import ctypes

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.context import Functions
from fixfunc.cosim.record.shading.outputs import Output, feed_back

LIGHTS = 8
UNITS = 8  # of texture coordinates
_HEAD = """#version 120
vec4 lit(vec3 normal, vec3 place, vec4 emission, vec4 ambient, vec4 diffuse, vec4 specular,
         float shininess, out vec4 second) {
    vec3 first = emission.rgb + ambient.rgb * gl_LightModel.ambient.rgb;
    vec3 gleam = vec3(0.0);
"""
_LIGHT = """    {{
        vec4 at = gl_LightSource[{n}].position;
        float reach = 1.0;
        vec3 towards = at.xyz;
        if (at.w != 0.0) {{
            towards = at.xyz / at.w - place;
            float far = length(towards);
            reach = 1.0 / (gl_LightSource[{n}].constantAttenuation
                + far * (gl_LightSource[{n}].linearAttenuation
                + far * gl_LightSource[{n}].quadraticAttenuation));
        }}
        towards = normalize(towards);
        if (gl_LightSource[{n}].spotCutoff != 180.0) {{
            float turn = dot(-towards, normalize(gl_LightSource[{n}].spotDirection));
            reach *= turn < gl_LightSource[{n}].spotCosCutoff
                ? 0.0 : pow(turn, gl_LightSource[{n}].spotExponent);
        }}
        float facing = max(dot(normal, towards), 0.0);
        float along = max(dot(normal, normalize(towards + {viewer})), 0.0);
        float shine = shininess == 0.0 ? 1.0 : pow(along, shininess);
        first += reach * (gl_LightSource[{n}].ambient.rgb * ambient.rgb
            + facing * gl_LightSource[{n}].diffuse.rgb * diffuse.rgb);
        if (facing > 0.0)
            gleam += reach * shine * gl_LightSource[{n}].specular.rgb * specular.rgb;
    }}
"""
_MAIN = """void main() {
    gl_Position = ftransform();
    vec4 eye = gl_ModelViewMatrix * gl_Vertex;
    vec3 place = eye.xyz;
    vec3 normal = gl_NormalMatrix * gl_Normal;
"""
_SPHERE = """    vec3 mirrored = reflect(normalize(place), normal);
    float wide = 2.0 * length(mirrored + vec3(0.0, 0.0, 1.0));
"""
# Which members of a material follow the colour.
_FOLLOWING = {
    T.EMISSION: ("emission",),
    T.AMBIENT: ("ambient",),
    T.DIFFUSE: ("diffuse",),
    T.SPECULAR: ("specular",),
    T.AMBIENT_AND_DIFFUSE: ("ambient", "diffuse"),
}
_GENERATED = {
    T.SPHERE_MAP: lambda axis, _: f"mirrored.{axis} / wide + 0.5",
    T.REFLECTION_MAP: lambda axis, _: f"mirrored.{axis}",
    T.NORMAL_MAP: lambda axis, _: f"normal.{axis}",
    T.OBJECT_LINEAR: lambda axis, n: f"dot(gl_Vertex, gl_ObjectPlane{_plane(axis)}[{n}])",
    T.EYE_LINEAR: lambda axis, n: f"dot(eye, gl_EyePlane{_plane(axis)}[{n}])",
}
_AXES = dict(zip("xyzw", (T.S, T.T, T.R, T.Q), strict=True))


def _plane(axis):
    return dict(zip("xyzw", "STRQ", strict=True))[axis]


class FixedVertices:
    """Programs that stand for the fixed functions of vertices, in one context.

    Parameters
    ----------
    gl : Functions
    """

    def __init__(self, gl: Functions) -> None:
        self._gl = gl
        self._programs: dict[str, tuple[int, list[Output]]] = {}

    def program(self, units: set[int], fog: bool) -> tuple[int, list[Output]]:
        """A program for the state that there is, and what it puts out.

        Parameters
        ----------
        units : set of int
            Units whose texture coordinates count.
        fog : bool
            The coordinate of fog counts.
        """
        text, names = self._text(units, fog)
        if text not in self._programs:
            self._programs[text] = self._linked(text, names), [_output(name) for name in names]
        return self._programs[text]

    def _linked(self, text, names):
        gl = self._gl
        shader = gl.glCreateShader(T.VERTEX_SHADER)
        texts = (ctypes.c_char_p * 1)(text.encode())
        gl.glShaderSource(shader, 1, ctypes.addressof(texts), None)
        gl.glCompileShader(shader)
        program = gl.glCreateProgram()
        gl.glAttachShader(program, shader)
        feed_back(gl, program, names)
        gl.glLinkProgram(program)
        return program

    def _text(self, units, fog):
        """A text, and names of what it puts out."""
        gl = self._gl
        names = ["gl_FrontColor"]
        lines = []
        if gl.glIsEnabled(T.NORMALIZE):
            lines.append("    normal = normalize(normal);\n")
        elif gl.glIsEnabled(T.RESCALE_NORMAL):
            lines.append("    normal *= gl_NormalScale;\n")
        head = ""
        if gl.glIsEnabled(T.LIGHTING):
            head = self._lit()
            lines.append(self._material("Front", "normal"))
            if gl.integer(T.LIGHT_MODEL_TWO_SIDE):
                lines.append(self._material("Back", "-normal"))
                names.append("gl_BackColor")
        else:
            lines.append("    gl_FrontColor = gl_Color;\n    vec4 second = gl_SecondaryColor;\n")
        if has_colour_sum(gl):
            # A lit one is that of each side.
            sides = [name.removesuffix("Color") for name in names]
            names += [f"{side}SecondaryColor" for side in sides]
            if not head:
                lines.append("    gl_FrontSecondaryColor = second;\n")
        if gl.integer(T.CLAMP_VERTEX_COLOR):
            lines += [f"    {name} = clamp({name}, 0.0, 1.0);\n" for name in names]
        generated = [self._coordinates(n) for n in sorted(units)]
        if any("mirrored" in line for line in generated):
            lines.append(_SPHERE)
        lines += generated
        names += [f"gl_TexCoord[{n}]" for n in sorted(units)]
        if fog:
            is_given = gl.integer(T.FOG_COORD_SRC) == T.FOG_COORD
            lines.append(f"    gl_FogFragCoord = {'gl_FogCoord' if is_given else 'abs(eye.z)'};\n")
            names.append("gl_FogFragCoord")
        return "".join([head or "#version 120\n", _MAIN, *lines, "}\n"]), names

    def _lit(self):
        """The function of lights that are on."""
        gl = self._gl
        is_local = gl.integer(T.LIGHT_MODEL_LOCAL_VIEWER)
        viewer = "normalize(-place)" if is_local else "vec3(0.0, 0.0, 1.0)"
        lights = [
            _LIGHT.format(n=n, viewer=viewer) for n in range(LIGHTS) if gl.glIsEnabled(T.LIGHT0 + n)
        ]
        apart = gl.integer(T.LIGHT_MODEL_COLOR_CONTROL) == T.SEPARATE_SPECULAR_COLOR
        second, added = ("gleam", "") if apart else ("vec3(0.0)", " + gleam")
        end = f"    second = vec4({second}, 0.0);\n    return vec4(first{added}, diffuse.a);\n}}\n"
        return "".join([_HEAD, *lights, end])

    def _material(self, side, normal):
        """A side's colours: what of its material follows the colour is that of the vertex."""
        gl = self._gl
        following = ()
        faces = T.FRONT if side == "Front" else T.BACK, T.FRONT_AND_BACK
        if gl.glIsEnabled(T.COLOR_MATERIAL) and gl.integer(T.COLOR_MATERIAL_FACE) in faces:
            following = _FOLLOWING[gl.integer(T.COLOR_MATERIAL_PARAMETER)]
        members = [
            "gl_Color" if name in following else f"gl_{side}Material.{name}"
            for name in ("emission", "ambient", "diffuse", "specular")
        ]
        return (
            f"    gl_{side}Color = lit({normal}, place, {', '.join(members)},\n"
            f"        gl_{side}Material.shininess, gl_{side}SecondaryColor);\n"
        )

    def _coordinates(self, unit):
        """Texture coordinates of a unit: given or generated, then by its matrix."""
        gl = self._gl
        gl.glActiveTexture(T.TEXTURE0 + unit)
        parts = []
        for axis, name in _AXES.items():
            part = f"gl_MultiTexCoord{unit}.{axis}"
            if gl.glIsEnabled(T.TEXTURE_GEN_S + name - T.S):
                mode = ctypes.c_int()
                gl.glGetTexGeniv(name, T.TEXTURE_GEN_MODE, ctypes.addressof(mode))
                part = _GENERATED[mode.value](axis, unit)
            parts.append(part)
        joined = ",\n        ".join(parts)
        return f"    gl_TexCoord[{unit}] = gl_TextureMatrix[{unit}] * vec4({joined});\n"


def has_colour_sum(gl: Functions) -> bool:
    """Of fixed functions of vertices: the secondary colour counts."""
    is_apart = gl.integer(T.LIGHT_MODEL_COLOR_CONTROL) == T.SEPARATE_SPECULAR_COLOR
    return bool(gl.glIsEnabled(T.COLOR_SUM) or (gl.glIsEnabled(T.LIGHTING) and is_apart))


def _output(name):
    return Output(name, components=1 if name == "gl_FogFragCoord" else 4)
