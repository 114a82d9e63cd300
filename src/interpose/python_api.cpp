#include "interpose/python_api.h"

namespace redzone::interpose {
namespace {

template <class Function>
void load(Function& out, void* symbol) {
  if (symbol != nullptr) out = reinterpret_cast<Function>(symbol);
}

}  // namespace

bool PythonApi::is_complete() const {
  return version != nullptr && code_type != nullptr && is_initialized != nullptr &&
         is_finalizing != nullptr && thread != nullptr && line_of != nullptr && length != nullptr &&
         character != nullptr && current != nullptr && disable_collection != nullptr &&
         enable_collection != nullptr && frame != nullptr && frame_back != nullptr &&
         frame_code != nullptr && frame_last != nullptr && attribute != nullptr &&
         error != nullptr && clear_error != nullptr && retain != nullptr && release != nullptr;
}

PythonApi load_python(void* (*find)(const char* name)) {
  PythonApi p;
  load(p.version, find("Py_Version"));
  load(p.code_type, find("PyCode_Type"));
  load(p.is_initialized, find("Py_IsInitialized"));
  load(p.is_finalizing, find("_Py_IsFinalizing"));  // before 3.13
  load(p.is_finalizing, find("Py_IsFinalizing"));
  load(p.thread, find("PyGILState_GetThisThreadState"));
  load(p.line_of, find("PyCode_Addr2Line"));
  load(p.length, find("PyUnicode_GetLength"));
  load(p.character, find("PyUnicode_ReadChar"));
  load(p.current, find("_PyThreadState_UncheckedGet"));  // before 3.13
  load(p.current, find("PyThreadState_GetUnchecked"));
  load(p.disable_collection, find("PyGC_Disable"));
  load(p.enable_collection, find("PyGC_Enable"));
  load(p.frame, find("PyEval_GetFrame"));
  load(p.frame_back, find("PyFrame_GetBack"));
  load(p.frame_code, find("PyFrame_GetCode"));
  load(p.frame_last, find("PyFrame_GetLasti"));
  load(p.attribute, find("PyObject_GetAttrString"));
  load(p.error, find("PyErr_Occurred"));
  load(p.clear_error, find("PyErr_Clear"));
  load(p.retain, find("Py_IncRef"));
  load(p.release, find("Py_DecRef"));
  return p;
}

}  // namespace redzone::interpose
